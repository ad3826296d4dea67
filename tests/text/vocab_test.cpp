// Real vocabularies (GPT-2's and Qwen2's, from ../shared/data): ids against those of llama.cpp, and against
// @huggingface/tokenizers.
#include <gtest/gtest.h>

#include <sstream>

#include "gguf_vocab.h"
#include "model/gguf.h"
#include "support/data.h"
#include "text_support.h"

namespace nyb {
namespace {
using namespace test;
using nlohmann::json;
namespace fs = std::filesystem;

struct Vocab {
  fs::path folder;
  std::unique_ptr<Tokenizer> tok;
  std::vector<std::string> texts;
  std::vector<Ids> ids;
};

Vocab load(const std::string& name, const char* regex) {
  Vocab v;
  const fs::path file = data_dir() / "vocab" / ("ggml-vocab-" + name + ".gguf");
  const Gguf gguf(file.string());
  const auto tokens = gguf.strs("tokenizer.ggml.tokens");
  const auto types = gguf.ints("tokenizer.ggml.token_type");
  json t = made_up_bpe({});
  t["model"]["vocab"] = json::object();
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (types[i] == 3) {  // control
      t["added_tokens"].push_back({{"id", i}, {"content", tokens[i]}, {"special", true}});
    } else if (types[i] == 1) {
      t["model"]["vocab"][tokens[i]] = i;
    }
  }
  t["model"]["merges"] = gguf.strs("tokenizer.ggml.merges");
  if (regex) {
    t["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] = regex;
  } else {
    t["pre_tokenizer"] = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", true}};
  }
  v.folder = folder_with(t, json::object());
  Meta meta;
  tok_import_hf(v.folder.string(), static_cast<uint32_t>(tokens.size()), meta);
  v.tok = Tokenizer::from_meta(meta);

  v.texts = vocab_texts(file);
  v.ids = vocab_ids(file);
  return v;
}

void expect_agreement(const Vocab& v) {
  ASSERT_GE(v.texts.size(), 40u);
  // What follows the last mark of the file is no text.
  ASSERT_GE(v.texts.size(), v.ids.size());
  ASSERT_GE(v.ids.size() + 1, v.texts.size());
  for (size_t i = 0; i < v.ids.size(); ++i) {
    EXPECT_EQ(v.tok->encode(v.texts[i]), v.ids[i]) << ::testing::PrintToString(v.texts[i]);
    EXPECT_EQ(v.tok->decode(v.ids[i]), v.texts[i]);
  }
  std::vector<std::string> texts;
  Random rng(41);
  while (texts.size() < 600) {
    texts.push_back(fuzz_text(rng));
    // The reference's own copy of GPT-2's pattern takes these two otherwise than Unicode does (see hf_test.cpp).
    if (texts.back().find("\u0085") != std::string::npos || texts.back().find("\ufeff") != std::string::npos) texts.pop_back();
  }
  std::istringstream code(read_file(source_dir() / "models/pocket/make_data.py"));
  for (std::string line; std::getline(code, line);) texts.push_back(line);
  const auto want = hf_ids(v.folder / "tokenizer.json", texts);
  for (size_t i = 0; i < want.size(); ++i) ASSERT_EQ(v.tok->encode(texts[i]), want[i]) << ::testing::PrintToString(texts[i]);
}

TEST(RealVocabulary, Gpt2) {
  NYB_NEED_DATA();
  const Vocab v = load("gpt-2", nullptr);
  EXPECT_EQ(v.tok->size(), 50257u);
  expect_agreement(v);
}

TEST(RealVocabulary, Qwen2) {
  NYB_NEED_DATA();
  const Vocab v = load(
      "qwen2", R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)");
  EXPECT_EQ(v.tok->size(), 151936u);
  expect_agreement(v);
}

}  // namespace
}  // namespace nyb
