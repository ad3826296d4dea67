// speculate_test.cpp - guessing what comes next changes the time of a reply and nothing else.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include "recorded.h"
#include "support/hf_folder.h"

namespace nyb::test {
namespace {

using nlohmann::json;

// What a guess may not touch.
json said(json j) {
  json only;
  for (const char* key : {"text", "ids", "stop", "fingerprint", "context_used", "prompt_tokens", "reread_tokens", "logprobs"})
    if (j.contains(key)) only[key] = j[key];
  return only;
}

struct Both {
  std::vector<json> with, without;
  uint32_t guessed = 0, right = 0, passes = 0, tokens = 0;  // of all replies with
};

Both both_ways(const std::string& in, const Args& args) {
  Both b;
  for (const char* how : {"on", "off"}) {
    Args a = args;
    a.insert(a.end(), {"--speculate", how});
    const Spoken s = talk(in, a);
    EXPECT_FALSE(s.replies.empty()) << s.err;
    for (const json& j : s.replies) (how[1] == 'n' ? b.with : b.without).push_back(j);
  }
  for (const json& j : b.with) {
    b.guessed += j["guessed_tokens"].get<uint32_t>();
    b.right += j["guessed_right"].get<uint32_t>();
    b.passes += j["passes"].get<uint32_t>();
    b.tokens += j["reply_tokens"].get<uint32_t>();
  }
  for (const json& j : b.without) EXPECT_EQ(j["guessed_tokens"], 0);
  return b;
}

void expect_same(const Both& b) {
  ASSERT_EQ(b.with.size(), b.without.size());
  for (size_t i = 0; i < b.with.size(); ++i) EXPECT_EQ(said(b.with[i]), said(b.without[i])) << "reply " << i;
}

const char* const kTalk = "What is int4?\nWhat is int8?\nTell me a story\nWhat is int4?\n";

TEST(Speculate, TheSameGreedy) {
  const Both b = both_ways(kTalk, {"--temp", "0", "--logprobs", "1"});
  expect_same(b);
  EXPECT_GT(b.right, 10u) << "of " << b.guessed;
  EXPECT_LT(b.right, b.guessed) << "no guess was wrong: half of it is not shown";
  EXPECT_LT(b.passes, b.tokens - b.with.size());
}

TEST(Speculate, TheSameSampled) {
  for (const char* seed : {"1", "2", "3"}) {
    const Both b = both_ways(kTalk, {"--temp", "0.9", "--seed", seed, "--repeat-penalty", "1.1"});
    expect_same(b);
    EXPECT_GT(b.guessed, 0u);
  }
}

// Wherever a reply ends: by --max within the guesses, by a stop text, where old turns go, in a cache of f16.
TEST(Speculate, TheSameEnds) {
  for (const char* max : {"1", "2", "3", "7", "12"}) expect_same(both_ways(kTalk, {"--temp", "0", "--max", max}));
  expect_same(both_ways(kTalk, {"--temp", "0", "--stop", "bits"}));
  const Both full = both_ways(kTalk, {"--temp", "0", "--ctx", "64", "--kv", "f16"});
  expect_same(full);
  EXPECT_GT(full.right, 0u);
  expect_same(both_ways(kTalk, {"--temp", "0", "--chunk", "3", "--threads", "3"}));
}

// What a reply's end leaves unchecked is neither right nor wrong. The second reply is the first once more: no guess is wrong.
TEST(Speculate, CountsWhatTheReplyDecided) {
  const std::string twice = "What is int4?\nWhat is int4?\n";
  for (const char* max : {"400", "12"}) {
    const std::vector<json> replies = talk(twice, {"--temp", "0", "--speculate", "on", "--max", max}).replies;
    ASSERT_EQ(replies.size(), 2u);
    const json& j = replies[1];
    ASSERT_EQ(j["ids"], replies[0]["ids"]);
    EXPECT_EQ(j["guessed_tokens"], j["guessed_right"]);
    EXPECT_EQ(j["guessed_right"].get<size_t>() + j["passes"].get<size_t>() + 1, j["ids"].size());
    EXPECT_GT(j["guessed_right"], 8);
  }
}

// With three tokens a reply the first pass alone may guess, and a guess needs the time of a pass without: one of a reply before.
// Until a pass with a guess was timed, it is worth it.
TEST(Speculate, RemembersTheTimesOfEarlierReplies) {
  uint32_t guessed = 0;
  for (const json& j : talk("What is int4?\nWhat is int4?\nWhat is int4?\n", {"--temp", "0", "--max", "3"}).replies)
    guessed += j["guessed_tokens"].get<uint32_t>();
  EXPECT_GT(guessed, 0u);
}

// A pass over the weights is one: a token and its guesses are no more than a chunk.
TEST(Speculate, NoMoreThanAChunk) {
  const Both b = both_ways(kTalk, {"--temp", "0", "--chunk", "3"});
  expect_same(b);
  EXPECT_GT(b.right, 10u);
  for (const json& j : b.with) EXPECT_LE(j["guessed_tokens"], 2 * j["passes"].get<uint32_t>());
  for (const json& j : talk(kTalk, {"--temp", "0", "--chunk", "1"}).replies) {
    EXPECT_EQ(j["guessed_tokens"], 0);
    EXPECT_EQ(j["passes"], j["reply_tokens"].get<uint32_t>() - 1);
  }
  const Ran r = chat({"--speculate", "on", "--chunk", "1", "-p", "hello"});
  EXPECT_EQ(r.code, 2);
  EXPECT_NE(r.err.find("--chunk 1 takes one token at a time"), std::string::npos) << r.err;
}

TEST(Speculate, ByItselfItIsTheSameToo) {
  const Spoken by_itself = talk(kTalk, {"--temp", "0"}), off = talk(kTalk, {"--temp", "0", "--speculate", "off"});
  ASSERT_EQ(by_itself.replies.size(), off.replies.size());
  for (size_t i = 0; i < off.replies.size(); ++i) EXPECT_EQ(said(by_itself.replies[i]), said(off.replies[i]));
}

uint32_t right_of(const std::vector<json>& replies) {
  uint32_t right = 0;
  for (const json& j : replies) right += j["guessed_right"].get<uint32_t>();
  return right;
}

// Saved, gone on with and computed again, each with guesses where the other has none; turns taken back and asked again among them.
TEST(Speculate, TheSameRecord) {
  const char* const lines = "What is int4?\n/regen\nTell me a story\nWhat is int4?\n/undo\n/regen\nWhat is int4?\n";
  const std::string on = file("on.json"), off = file("off.json");
  EXPECT_GT(right_of(talk(lines, {"--save", on, "--seed", "5", "--temp", "0.2", "--speculate", "on"}).replies), 0u);
  EXPECT_EQ(right_of(talk(lines, {"--save", off, "--seed", "5", "--temp", "0.2", "--speculate", "off"}).replies), 0u);
  EXPECT_EQ(read_file(on), read_file(off));
  for (const char* how : {"on", "off"}) {
    const Ran again = replay(on, {"--speculate", how});
    EXPECT_EQ(again.code, 0) << again.err;
    EXPECT_TRUE(again.out.starts_with("identical: ")) << again.out;
  }
  const Both further = both_ways("/regen\nWhat is int4?\n", {"--load", on, "--temp", "0"});
  expect_same(further);
  EXPECT_GT(further.right, 0u);
}

// Ctrl+C among the guesses of a story that was told before.
TEST(Speculate, TheSameAfterAnInterruption) {
  const std::string told = file("told.json"), cut = file("cut.json");
  talk("Tell me a story\n", {"--save", told, "--temp", "0"});
  const Ran r =
      chat({"--load", told, "--save", cut, "-p", "Tell me a story", "--kernel", "ref", "--temp", "0", "--speculate", "on"},
           {.interrupt_on = " a ", .interrupt_after = std::chrono::milliseconds(0)});
  EXPECT_EQ(r.code, 130) << r.err;
  EXPECT_NE(r.err.find("guessed tokens right"), std::string::npos) << r.err;
  const Record rec = record_read(cut);
  ASSERT_EQ(rec.events.size(), 2u);
  EXPECT_EQ(rec.events[1].stop, Stop::interrupted) << "it came too late: the test shows nothing";
  for (const char* how : {"on", "off"}) {
    const Ran again = replay(cut, {"--speculate", how});
    EXPECT_EQ(again.code, 0) << again.err;
  }
  const Both further = both_ways("What is int4?\nTell me a story\n/regen\n", {"--load", cut, "--temp", "0"});
  expect_same(further);
  EXPECT_GT(further.right, 0u);
}

// Greedy, it says 2 after 1, 4 after 2, and then 5 and 4 in turn, whatever came before. The key of token 3 is (50000, 50000),
// turned by as many radians as its position: at position 3 f16 holds it, (-56597, -42390), at 7 not, (4838, 70545).
std::string narrow_model() {
  constexpr size_t dim = 16, vocab = 19;
  HfFolder f = tiny_model("F32", false);
  f.config.update({{"hidden_size", dim}, {"num_hidden_layers", 1}, {"num_attention_heads", 1}, {"head_dim", dim}});
  std::erase_if(f.tensors, [](const HfTensor& t) { return t.name.find("layers.1.") != std::string::npos; });
  for (HfTensor& t : f.tensors) {
    for (uint64_t& n : t.shape)
      if (n != vocab && n != 20) n = dim;
    size_t all = 1;
    for (const uint64_t n : t.shape) all *= n;
    std::vector<float> v(all, t.name.find("norm") == std::string::npos ? 0.0f : 1.0f);
    const auto set = [&](size_t row, size_t col, float x) { v[row * dim + col] = x; };
    if (t.name == "model.embed_tokens.weight")
      for (size_t i = 0; i < dim; ++i) set(i, i, 1);  // which the norm makes 4
    if (t.name == "lm_head.weight")
      for (const auto& [now, next] : {std::pair<size_t, size_t>{1, 2}, {2, 4}, {4, 5}, {5, 4}}) set(next, now, 1);
    if (t.name.ends_with("k_proj.weight"))
      for (const size_t row : {size_t{0}, dim / 2}) set(row, 3, 12500);
    t.bytes = dtype_bytes("F32", v);
  }
  return folder_model(f.write("narrow"), TType::f32)->path;
}

// A guess that the cache cannot hold is no fault of the reply.
TEST(Speculate, AGuessThatFailsIsLeftOut) {
  const std::string model = narrow_model();
  const auto said_of = [&](const char* kv, const char* how) {
    const Ran r =
        chat({model, "--ids", "6,1,2,3,6,1", "--max", "9", "--temp", "0", "--kv", kv, "--speculate", how, "--json", "--quiet"});
    EXPECT_EQ(r.code, 0) << kv << ' ' << how << ": " << r.err;
    return json::parse(r.out, nullptr, false);
  };
  const json wide = said_of("f32", "on"), off = said_of("f16", "off"), on = said_of("f16", "on");
  EXPECT_EQ(off["ids"], json({2, 4, 5, 4, 5, 4, 5, 4, 5}));
  EXPECT_EQ(said(on), said(off));
  EXPECT_EQ(wide["ids"], off["ids"]);
  EXPECT_EQ(on["guessed_right"], wide["guessed_right"]);
  EXPECT_GT(wide["guessed_tokens"], wide["guessed_right"]) << "a guess of token 3, wrong where it can be run";
  EXPECT_EQ(on["guessed_tokens"], on["guessed_right"]) << "and not looked at where it cannot";
  EXPECT_EQ(on["passes"], wide["passes"]);
  const Ran itself = chat({model, "--ids", "6,1,2,3,6,1,2,3", "--kv", "f16", "--quiet"});
  EXPECT_NE(itself.err.find("does not fit f16"), std::string::npos) << itself.err;
}

}  // namespace
}  // namespace nyb::test
