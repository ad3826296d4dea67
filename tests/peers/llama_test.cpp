// What is exported, under real llama.cpp: the same ids, the same words, the same probabilities.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>

#include "sides.h"
#include "support/data.h"
#include "support/family_folder.h"
#include "text/template.h"

namespace nyb::test {
namespace {
namespace fs = std::filesystem;

ModelSource pocket() {
  ModelSource src = hf_open(pocket_dir().string());
  tok_import_hf(pocket_dir().string(), src.shape.vocab, src.meta);
  return src;
}

ModelSource stories() {
  const fs::path dir = data_dir() / "stories260K";
  ModelSource src = llama2c_open((dir / "stories260K.bin").string());
  tok_import_llama2c((dir / "tok512.bin").string(), src.shape.vocab, src.meta);
  return src;
}

// What Pocket is asked, as its template tells it.
Told asked(const Sides& s, const std::string& user) {
  const std::string& jinja = s.model->meta.get<std::string>(key::chat_template);
  EXPECT_EQ(s.llama->chat_template(), jinja);
  const std::vector<Message> messages{{"user", user, {}, {}}};
  return ChatTemplate::parse(jinja, *s.tok).tell(messages, true);
}

std::string text_here(const Sides& s, const std::vector<int32_t>& ids) {
  std::string out;
  for (const int32_t id : ids) out += s.tok->bytes(id);
  return out;
}
std::string text_there(const Sides& s, const std::vector<int32_t>& ids) {
  std::string out;
  for (const int32_t id : ids) out += s.llama->piece(id);
  return out;
}

// The same tokens one after the other, beyond the end of a reply too.
void expect_same_greedy(const Sides& s, const std::vector<int32_t>& prompt, size_t n) {
  double margin = 0;
  const auto ours = s.greedy(prompt, n, &margin), theirs = s.llama->greedy(prompt, n);
  EXPECT_EQ(ours, theirs);
  EXPECT_EQ(text_here(s, ours), text_there(s, theirs));
  std::printf("%zu tokens, the least margin %.4f: %.60s\n", n, margin, text_here(s, ours).c_str());
}

TEST(Peer, PocketSaysTheSameWordForWord) {
  const Sides s = sides_in_f32(pocket(), "pocket");
  ASSERT_TRUE(s.llama);
  for (const char* user :
       {"Tell me a story", "What's the capital of Greece?", "I have 19 rings and get 11 more. How many do I have?"}) {
    const Told told = asked(s, user);
    EXPECT_EQ(s.llama->tokenize(told.text, false, true), told.ids) << user;
    expect_same_greedy(s, told.ids, 60);
  }
  expect_same_greedy(s, asked(s, "Tell me a long story about a cat.").ids, 200);
}

TEST(Peer, StoriesSayTheSameWordForWord) {
  NYB_NEED_DATA();
  const Sides s = sides_in_f32(stories(), "stories");
  ASSERT_TRUE(s.llama);
  const Sides other = sides_of((data_dir() / "stories260K" / "stories260K-f32.gguf").string());  // converted by someone else
  ASSERT_TRUE(other.llama);
  expect_same_greedy(other, {1}, 200);
  for (const char* text : {"", "Once upon a time", "Tim and Sue were at the park. The sun"}) {
    std::vector<int32_t> ids{1};
    for (const int32_t id : s.tok->encode(text)) ids.push_back(id);
    EXPECT_EQ(s.llama->tokenize(text, true, false), ids) << text;
    expect_same_greedy(s, ids, *text ? 60 : 200);
  }
}

// What Pocket says by itself, 200 tokens after a prompt: text of the kind that it knows.
struct Taught {
  std::vector<int32_t> ids;
  size_t prompt = 0;
  std::vector<float> logits;  // of the model in f32, here
};
const Taught& taught() {
  static const Taught made = [] {
    Sides s = sides_in_f32(pocket(), "taught");
    Taught t;
    t.ids = asked(s, "Tell me a story").ids;
    t.prompt = t.ids.size();
    const auto said = s.greedy(t.ids, 200);
    t.ids.insert(t.ids.end(), said.begin(), said.end());
    t.logits = s.logits(t.ids);
    return t;
  }();
  return made;
}

// How far may the two be apart with the same weights? Both round activations to int8. The errors of that are spread evenly over a
// step, which is the greatest of 32 values (of 256 in llama.cpp's Q4_K and Q6_K) / 127: of normal values 2.1 (2.8) deviations / 127
// / sqrt(12) = 0.5 (0.65) % of each, and so of a product's deviation. Attention and the feed-forward part are two products in a
// row, 0.9 % of what they add to the stream; what is added adds up as a root of squares, and so do the errors: 0.9 % of the stream,
// with the head's own 0.65 % 1.1 % of the logits' deviation. Two such sides are 1.6 % apart, in a difference of two logits 2.2 %,
// and 4.5 deviations of that, which none of some hundred positions is beyond, are a tenth. f16 and bf16 round activations to 2^-11
// and 2^-8 of themselves: less than int8.
constexpr double kInt8Margin = 0.1;
constexpr double kLoss = 0.002;

void expect_near(const std::string& what, const std::vector<float>& ours, const std::vector<float>& theirs, const Taught& t) {
  const Difference d = difference(ours, theirs, ours.size() / t.ids.size(), kInt8Margin);
  const double a = mean_loss(ours, t.ids, t.prompt), b = mean_loss(theirs, t.ids, t.prompt);
  std::printf("%s: %.1e of the largest logit at worst, %.1e on average; %zu of %zu margins small; loss %.5f and %.5f\n",
              what.c_str(), d.worst, d.mean, d.close, t.ids.size(), a, b);
  EXPECT_EQ(d.other_argmax, 0u);
  EXPECT_LT(d.close, t.ids.size() / 4);  // else nothing was said
  EXPECT_NEAR(a, b, kLoss);
}

void expect_sensible(const Llama& l, const Sides& s) {
  const Told told = asked(s, "What's the capital of Greece?");
  std::string reply;
  for (const int32_t id : l.greedy(told.ids, 20)) {
    if (l.is_end(id)) break;
    reply += l.piece(id);
  }
  EXPECT_EQ(reply, "The capital of Greece is Athens.");
}

// The same weights here and there, to the last bit.
class PeerTypes : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(, PeerTypes, testing::Values("q8_0", "q4_0", "q4_K"), [](const auto& p) { return p.param; });

TEST_P(PeerTypes, PocketTaughtWordForWord) {
  std::string file;
  if (GetParam() == "q4_K") {  // by llama.cpp's own quantizer, of our f32
    file = (tmp_dir() / "pocket-q4_K.gguf").string();
    ASSERT_TRUE(Llama::quantize(exported(pocket(), GgmlType::f32, "pocket"), file, Llama::kQ4KM));
  } else {
    file = exported(pocket(), GetParam() == "q8_0" ? GgmlType::q8_0 : GgmlType::q4_0, "pocket");
  }
  const Sides s = sides_of(file);
  ASSERT_TRUE(s.llama);
  EXPECT_NE(s.model->type_name.find(GetParam() == "q4_0" ? "q4" : GetParam()), std::string::npos) << s.model->type_name;
  expect_near(GetParam(), s.logits(taught().ids), s.llama->logits(taught().ids), taught());
  expect_sensible(*s.llama, s);
}

// Pocket's weights are bf16 and none too small for f16, so that these hold the same as f32.
TEST(Peer, FloatTypesAreTheModelInF32) {
  for (const GgmlType type : {GgmlType::f16, GgmlType::bf16}) {
    const Sides s = sides_of(exported(pocket(), type, "pocket"));
    ASSERT_TRUE(s.llama);
    expect_near(std::string(ggml_block(type).name), taught().logits, s.llama->logits(taught().ids), taught());
    expect_sensible(*s.llama, s);
  }
}

// In f32 ours is within 1.5e-6 of the largest logit (tests/engine/double_test.cpp), a random model's within 4e-6. llama.cpp adds
// the angles of RoPE: it multiplies from pair to pair in f32, so that at position 200 those of the first pairs are wrong by 2e-5.
// Scores change by as much of themselves, and what is read by as much where scores are about 1; a trained model has larger ones. A
// wrong rotation, scale, mask or tensor is off by 1e-3 and more.
struct Close {
  double worst, mean;
};
constexpr Close kTrained{1e-4, 1e-5}, kRandom{2.5e-5, 5e-6};

void expect_close(const std::string& what, const std::vector<float>& ours, const std::vector<float>& theirs, size_t vocab,
                  const Close& bound) {
  ASSERT_EQ(ours.size(), theirs.size());
  const Difference d = difference(ours, theirs, vocab, 1e-3);
  std::printf("%s: %.2e of the largest logit at worst, %.2e on average\n", what.c_str(), d.worst, d.mean);
  EXPECT_LT(d.worst, bound.worst);
  EXPECT_LT(d.mean, bound.mean);
  EXPECT_EQ(d.other_argmax, 0u);
}

TEST(Peer, ProbabilitiesInF32) {
  const Sides s = sides_in_f32(pocket(), "pocket");
  ASSERT_TRUE(s.llama);
  expect_close("pocket", taught().logits, s.llama->logits(taught().ids), s.model->shape.vocab, kTrained);
}

class PeerFamily : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(, PeerFamily, testing::ValuesIn(family_case_names()), [](const auto& p) { return p.param; });

TEST_P(PeerFamily, Agrees) {
  const std::string folder = llama_cpp_folder(GetParam()).write("peer-" + GetParam()).string();
  const std::string file = exported(hf_open(folder), GgmlType::f32, GetParam());
  const auto l = Llama::open(file);
  ASSERT_TRUE(l);
  const auto m = folder_model(folder, TType::f32);                                   // not by way of the GGUF
  const size_t n = GetParam() == "mistral" ? 24 : GetParam() == "qwen2" ? 40 : 200;  // the exported context, or enough
  std::vector<int32_t> ids(n);
  for (size_t i = 0; i < n; i++) ids[i] = static_cast<int32_t>((i * i + 5 * i) % 67);
  expect_close(GetParam(), our_logits(*m, ids), l->logits(ids), m->shape.vocab, kRandom);
}

}  // namespace
}  // namespace nyb::test
