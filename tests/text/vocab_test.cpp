// Real vocabularies (GPT-2's, Qwen2's, Phi-3's, from ../shared/data) read from their GGUF files: ids against those of llama.cpp,
// against
// @huggingface/tokenizers on the same tables written as tokenizer.json, and on texts made to take long.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <tuple>
#include <unordered_map>

#include "hostile.h"
#include "model/gguf.h"
#include "text/nfc.h"
#include "vocab_data.h"

namespace nyb {
namespace {
using namespace test;
using nlohmann::json;

constexpr const char* kQwen2Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

// A file's vocabulary: normal tokens and bytes in the model, control tokens added.
json with_vocab(const Gguf& file, json t) {
  const auto tokens = file.strs("tokenizer.ggml.tokens");
  const auto types = file.ints("tokenizer.ggml.token_type");
  t["model"]["vocab"] = json::object();
  for (size_t i = 0; i < tokens.size(); ++i) {
    const std::string text(tokens[i]);
    if (types[i] == 3) t["added_tokens"].push_back({{"id", i}, {"content", text}, {"special", true}, {"normalized", false}});
    if (types[i] == 1 || types[i] == 6 || text == "<unk>") t["model"]["vocab"][text] = i;
  }
  return t;
}

json byte_level_json(const std::string& name) {
  const Gguf file(vocab_file(name).string());
  json t = with_vocab(file, made_up_bpe({}));
  t["model"]["merges"] = file.strs("tokenizer.ggml.merges");
  if (name == "qwen2") {
    t["normalizer"] = {{"type", "NFC"}};
    t["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] = kQwen2Pattern;
  } else {
    t["pre_tokenizer"] = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", true}};
  }
  return t;
}

// Hugging Face's form of a SentencePiece model: a merge for each way to cut a piece in two pieces, the best score first.
json pieces_json(const std::string& name) {
  const Gguf file(vocab_file(name).string());
  const auto tokens = file.strs("tokenizer.ggml.tokens");
  const auto types = file.ints("tokenizer.ggml.token_type");
  const auto scores = file.floats("tokenizer.ggml.scores");
  std::unordered_map<std::string_view, size_t> ids;
  for (size_t i = 0; i < tokens.size(); ++i)
    if (types[i] == 1) ids.emplace(tokens[i], i);
  std::vector<std::tuple<double, size_t, size_t>> merges;  // falling score, left, right
  for (const auto& [text, id] : ids) {
    for (size_t k = 1; k < text.size(); ++k) {
      const auto left = ids.find(text.substr(0, k)), right = ids.find(text.substr(k));
      if (left != ids.end() && right != ids.end()) merges.emplace_back(-scores[id], left->second, right->second);
    }
  }
  std::sort(merges.begin(), merges.end());
  json t = with_vocab(file, made_up_bpe({}));
  auto& list = t["model"]["merges"] = json::array();
  for (const auto& [score, left, right] : merges) list.push_back({std::string(tokens[left]), std::string(tokens[right])});
  t["model"]["byte_fallback"] = true;
  t["model"]["fuse_unk"] = true;
  t["model"]["unk_token"] = "<unk>";
  t["normalizer"] = {{"type", "Sequence"},
                     {"normalizers",
                      {{{"type", "Prepend"}, {"prepend", "\u2581"}},
                       {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "\u2581"}}}}};
  t["pre_tokenizer"] = nullptr;
  t["decoder"] = nullptr;
  return t;
}

std::vector<std::string> many_texts() {
  std::vector<std::string> texts;
  Random rng(41);
  while (texts.size() < 600) {
    texts.push_back(fuzz_text(rng));
    // The reference's own copy of GPT-2's pattern takes these two otherwise than Unicode does (see hf_test.cpp).
    if (texts.back().find("\u0085") != std::string::npos || texts.back().find("\ufeff") != std::string::npos) texts.pop_back();
  }
  std::istringstream code(read_file(source_dir() / "models/pocket/make_data.py"));
  for (std::string line; std::getline(code, line);) texts.push_back(line);
  return texts;
}

class RealVocabulary : public ::testing::TestWithParam<const char*> {
 protected:
  std::string name() const { return GetParam(); }
  bool spm() const { return name() == "phi-3"; }
};

TEST_P(RealVocabulary, IdsOfLlamaCpp) {
  NYB_NEED_DATA();
  const auto tok = Tokenizer::from_meta(vocab_meta(name()));
  const auto texts = vocab_texts(name());
  const auto ids = vocab_ids(name());
  ASSERT_GE(ids.size(), 40u);
  // What follows the last mark of the file is no text.
  ASSERT_GE(texts.size(), ids.size());
  ASSERT_GE(ids.size() + 1, texts.size());
  for (size_t i = 0; i < ids.size(); ++i) {
    EXPECT_EQ(tok->encode(texts[i]), ids[i]) << ::testing::PrintToString(texts[i]);
    EXPECT_EQ(tok->decode(ids[i]), texts[i]);
  }
}

TEST_P(RealVocabulary, IdsOfHuggingFace) {
  NYB_NEED_DATA();
  const Meta gguf = vocab_meta(name());
  const auto folder = folder_with(spm() ? pieces_json(name()) : byte_level_json(name()), json::object());
  Meta hf;
  tok_import_hf(folder.string(), static_cast<uint32_t>(gguf.get<std::vector<std::string>>(key::tok_tokens).size()), hf);
  const auto one = Tokenizer::from_meta(gguf), other = Tokenizer::from_meta(hf);
  const auto texts = many_texts();
  const auto want = hf_ids(folder / "tokenizer.json", texts);
  for (size_t i = 0; i < want.size(); ++i) {
    ASSERT_EQ(one->encode(texts[i]), want[i]) << "GGUF: " << ::testing::PrintToString(texts[i]);
    ASSERT_EQ(other->encode(texts[i]), want[i]) << "tokenizer.json: " << ::testing::PrintToString(texts[i]);
    ASSERT_EQ(other->decode(want[i]), name() == "qwen2" ? nfc(texts[i]) : texts[i]);
  }
}

TEST_P(RealVocabulary, LinearTimeAndConstantStack) {
  NYB_NEED_DATA();
  constexpr size_t mb = size_t{1} << 20;
  const auto tok = Tokenizer::from_meta(vocab_meta(name()));
  const bool composed = name() == "qwen2";
  on_small_stack([&] {
    for (const char c : std::string("a7\n!\xff")) expect_fast(*tok, std::string(mb, c), mb + 1, "a megabyte of one byte");
    expect_fast(*tok, std::string(26000, ' '), 26001, "26,000 blanks");
    std::string marks = "a", pairs;
    while (marks.size() < mb) marks += "\u0301\u0323";  // above, below: the wrong way round for NFC
    while (pairs.size() < mb) pairs += "e\u0301";
    for (const std::string* text : {&marks, &pairs}) {
      const std::string back = composed ? nfc(*text) : *text;
      expect_fast(*tok, *text, text->size(), "a megabyte of combining marks", &back);
    }
  });
}

// The file's keys, and what they leave to be known by names.
TEST(RealVocabularies, BeginningsAndEnds) {
  NYB_NEED_DATA();
  const auto gpt2 = Tokenizer::from_meta(vocab_meta("gpt-2")), qwen2 = Tokenizer::from_meta(vocab_meta("qwen2")),
             phi3 = Tokenizer::from_meta(vocab_meta("phi-3"));
  EXPECT_EQ(gpt2->size(), 50257u);
  EXPECT_EQ(gpt2->ends(), Ids{50256});
  EXPECT_FALSE(gpt2->add_bos());
  EXPECT_EQ(qwen2->size(), 151936u);
  EXPECT_EQ(qwen2->ends(), (Ids{151643, 151645}));
  EXPECT_FALSE(qwen2->add_bos());
  EXPECT_EQ(phi3->size(), 32064u);
  EXPECT_EQ(phi3->ends(), (Ids{2, 32000, 32007}));
  EXPECT_EQ(phi3->bos(), 1);
  EXPECT_TRUE(phi3->add_bos());
  // White space after one of its specials goes with it.
  EXPECT_EQ(phi3->encode_with_specials("<|user|>\n Hello<|end|>\n"), phi3->encode_with_specials("<|user|>Hello<|end|>"));
  EXPECT_NE(phi3->encode_with_specials("<s>\nHello"), phi3->encode_with_specials("<s>Hello"));
}

INSTANTIATE_TEST_SUITE_P(, RealVocabulary, ::testing::Values("gpt-2", "qwen2", "phi-3"), [](const auto& info) {
  std::string name = info.param;
  std::erase(name, '-');
  return name;
});

}  // namespace
}  // namespace nyb
