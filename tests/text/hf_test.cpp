// Ids against @huggingface/tokenizers, an implementation that shares no line with this one.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "support/data.h"
#include "text_support.h"

namespace nyb {
namespace {
namespace fs = std::filesystem;
using namespace test;
using nlohmann::json;

constexpr const char* kQwen2Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

std::vector<std::string> fixed_texts() {
  std::vector<std::string> out = {"",
                                  " ",
                                  "  ",
                                  "   ",
                                  "    ",
                                  "\t",
                                  "\t\t",
                                  " \t ",
                                  "\n",
                                  "\n\n",
                                  "\r\n",
                                  "a\r\nb",
                                  "\r\n\r\n x",
                                  "Hello",
                                  " Hello",
                                  "Hello ",
                                  "Hello world",
                                  "  Hello",
                                  "<|end|><|assistant|>",
                                  "<|bos|>",
                                  "<|user|>hi<|end|>",
                                  "\u00e9",
                                  "e\u0301",
                                  "na\u00efve caf\u00e9",
                                  "\u4f60\u597d\u4e16\u754c",
                                  "\u3053\u3093\u306b\u3061\u306f",
                                  "\uc548\ub155",
                                  "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd",
                                  "\u0645\u0631\u062d\u0628\u0627",
                                  "\U0001f600",
                                  "\U0001f468\u200d\U0001f469\u200d\U0001f467",
                                  "\U0001f1e9\U0001f1ea",
                                  "x\u3000y",
                                  "x\u00a0y",
                                  "x\u180ey",
                                  "x\ufeffy",
                                  "x \u0085y",
                                  std::string("a\0b", 3),
                                  std::string(1, '\0')};
  for (std::string digits; digits.size() < 9;) {
    digits += static_cast<char>('1' + digits.size());
    out.push_back(digits);
    out.push_back("n = " + digits + ".");
  }
  for (const char* c : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d", "'S", "'T", "'RE", "'VE", "'M", "'LL", "'D", "'rE", "'Ll"}) {
    out.push_back(std::string("it") + c);
    out.push_back(std::string(c) + "x " + c);
  }
  out.push_back(std::string(300, 'a'));
  out.push_back(std::string(700, ' '));
  out.push_back("a" + std::string(300, ' ') + "b");
  out.push_back(std::string(500, '7'));
  return out;
}

void add_lines(const fs::path& file, std::vector<std::string>& out) {
  std::istringstream in(read_file(file));
  for (std::string line; std::getline(in, line);) out.push_back(line);
}

std::vector<std::string> all_texts() {
  std::vector<std::string> out = fixed_texts();
  std::istringstream heldout(read_file(pocket_dir() / "heldout.jsonl"));
  for (std::string line; std::getline(heldout, line);) {
    for (const auto& message : json::parse(line)) out.push_back(message.at("content"));
  }
  add_lines(pocket_dir() / "make_data.py", out);
  add_lines(pocket_dir() / "train.py", out);
  Random rng(2024);
  for (int i = 0; i < 1200; ++i) out.push_back(fuzz_text(rng));
  return out;
}

void expect_same(const Tokenizer& tok, const fs::path& tokenizer_json, const std::vector<std::string>& texts) {
  const std::vector<Ids> want = hf_ids(tokenizer_json, texts);
  for (size_t i = 0; i < want.size(); ++i) {
    ASSERT_EQ(tok.encode(texts[i]), want[i]) << "string " << i << ": " << ::testing::PrintToString(texts[i]);
    ASSERT_EQ(tok.decode(want[i]), texts[i]);
  }
}

void expect_same(const json& tokenizer, const std::vector<std::string>& texts) {
  const fs::path folder = folder_with(tokenizer, json::object());
  Meta meta;
  tok_import_hf(folder.string(), 1 << 16, meta);
  expect_same(*Tokenizer::from_meta(meta), folder / "tokenizer.json", texts);
}

TEST(HfTokenizers, PocketAgreesOnEveryString) {
  const auto texts = all_texts();
  ASSERT_GE(texts.size(), 1400u);
  expect_same(pocket(), pocket_dir() / "tokenizer.json", texts);
}

TEST(HfTokenizers, SpecialsWrittenOut) {
  const std::vector<std::string> texts = {
      "<|bos|><|user|>Hello<|end|><|assistant|>", "<|user|><|user|>",   "a <|end|> b", "<|end", "<|<|end|>|>", "|end|>",
      "<|system|>\n\nYou are\n<|end|>\n",         "\u00e9<|end|>\u00e9"};
  const auto want = hf_ids(pocket_dir() / "tokenizer.json", texts, true);
  for (size_t i = 0; i < want.size(); ++i) EXPECT_EQ(pocket().encode_with_specials(texts[i]), want[i]) << texts[i];
}

// use_regex stands for GPT-2's pattern. The reference has its own copy of it, in which \s is JavaScript's (U+FEFF is a space there,
// U+0085 none); written out as a Split it reads the pattern as Hugging Face's Rust library does. Both ways are compared.
TEST(HfTokenizers, Gpt2sPattern) {
  json t = pocket_json();
  t["pre_tokenizer"] = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", true}};
  const fs::path folder = folder_with(t, json::object());
  Meta meta;
  tok_import_hf(folder.string(), kPocketVocab, meta);
  const auto tok = Tokenizer::from_meta(meta);
  const auto texts = all_texts();

  json written_out = pocket_json();
  written_out["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] =
      R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
  expect_same(*tok, folder_with(written_out, json::object()) / "tokenizer.json", texts);

  std::vector<std::string> alike;
  for (const std::string& s : texts) {
    if (s.find("\u0085") == std::string::npos && s.find("\ufeff") == std::string::npos) alike.push_back(s);
  }
  ASSERT_GE(alike.size(), 1400u);
  expect_same(*tok, folder / "tokenizer.json", alike);
}

TEST(HfTokenizers, Qwen2sPatternAndMergesAsPairs) {
  json t = pocket_json();
  t["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] = kQwen2Pattern;
  for (auto& merge : t["model"]["merges"]) {
    const std::string s = merge;
    const size_t blank = s.find(' ');
    merge = json::array({s.substr(0, blank), s.substr(blank + 1)});
  }
  expect_same(t, all_texts());
}

// Words that the vocabulary has but no merge makes.
TEST(HfTokenizers, WordsTakenWhole) {
  json t = pocket_json();
  uint32_t id = kPocketVocab;
  for (const char* word : {"Hello", "\u0120world", "1234", "123", "qqqq", "'ll"}) {
    if (!t["model"]["vocab"].contains(word)) t["model"]["vocab"][word] = id++;
  }
  ASSERT_GT(id, kPocketVocab);
  auto texts = fixed_texts();
  texts.insert(texts.end(), {"qqqq", " qqqq", "Hello world", "qqqqq", "1234", "123", "a'll qqqq"});
  t["model"]["ignore_merges"] = true;
  expect_same(t, texts);
  // And without, those words are as they were.
  t["model"]["ignore_merges"] = false;
  expect_same(t, texts);
}

// Dense made-up merges over a small alphabet: each string is full of competing pairs.
TEST(HfTokenizers, MadeUpMerges) {
  Random rng(99);
  std::vector<std::array<uint32_t, 2>> merges;
  std::vector<std::string> bytes;
  bytes.reserve(1024);
  for (int b = 0; b < 256; ++b) bytes.emplace_back(1, static_cast<char>(b));
  std::set<std::string> known(bytes.begin(), bytes.end());
  std::vector<uint32_t> pool = {'a', 'b', 'c', ' '};
  while (merges.size() < 400) {
    const uint32_t left = pool[rng.below(pool.size())], right = pool[rng.below(pool.size())];
    const std::string made = bytes[left] + bytes[right];
    // A space inside a token would never be reached: words of the pattern have it in front only.
    if (made.size() > 12 || made.find(' ', 1) != std::string::npos || !known.insert(made).second) continue;
    pool.push_back(static_cast<uint32_t>(bytes.size()));
    bytes.push_back(made);
    merges.push_back({left, right});
  }
  std::vector<std::string> texts;
  for (int i = 0; i < 800; ++i) {
    std::string s;
    const size_t n = 1 + rng.below(i % 4 == 0 ? 400 : 60);
    for (size_t k = 0; k < n; ++k) s += "aaabbbccc "[rng.below(i % 3 == 0 ? 9 : 10)];
    texts.push_back(s);
  }
  expect_same(made_up_bpe(merges), texts);
}

}  // namespace
}  // namespace nyb
