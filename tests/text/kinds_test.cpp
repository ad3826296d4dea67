// Tokenizers of each kind that tokenizer.json files of known families have, on small vocabularies: ids against
// @huggingface/tokenizers.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "text/byte_map.h"
#include "text/nfc.h"
#include "text_support.h"

namespace nyb {
namespace {
using namespace test;
using nlohmann::json;
using Strings = std::vector<std::string>;

constexpr const char* kGpt2 = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr const char* kQwen2 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

json split(const char* regex) {
  return {{"type", "Split"}, {"pattern", {{"Regex", regex}}}, {"behavior", "Isolated"}, {"invert", false}};
}
json level(bool use_regex) {
  return {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", use_regex}};
}
json steps(const std::vector<json>& all) { return {{"type", "Sequence"}, {"pretokenizers", all}}; }
json added(uint32_t id, const char* content, bool special, bool before = false, bool after = false) {
  return {{"id", id},         {"content", content}, {"special", special}, {"normalized", false}, {"single_word", false},
          {"lstrip", before}, {"rstrip", after}};
}

// Fuzz with the texts of specials between, and runs of blanks.
Strings texts_with(const Strings& names) {
  Strings out = {"",  " ",     "  ",      "\t",    "\r\n", "a\r\n\r\nb", "Hello", " Hello", "  Hello  world ",
                 "1", "12345", "e\u0301", "\u00e9"};
  Random rng(7);
  while (out.size() < 500) {
    std::string s;
    for (size_t k = rng.below(4); k > 0; --k) {
      s += fuzz_text(rng);
      if (!names.empty() && rng.below(2)) s += names[rng.below(names.size())];
      s += std::string(rng.below(3) ? 0 : rng.below(70), " \n"[rng.below(2)]);
      if (!names.empty() && rng.below(2)) s += names[rng.below(names.size())];
    }
    // White space and digits of JavaScript's that Unicode takes otherwise.
    if (s.find("\u0085") == s.npos && s.find("\ufeff") == s.npos) out.push_back(s);
  }
  return out;
}

std::unique_ptr<Tokenizer> imported(const json& t, uint32_t vocab = 1 << 13) {
  Meta meta;
  tok_import_hf(folder_with(t, json::object()).string(), vocab, meta);
  return Tokenizer::from_meta(meta);
}

// `like`: the same tokenizer in a form that the reference reads as Hugging Face's own library does.
void expect_same(const json& t, const Strings& names = {}, const json* like = nullptr) {
  const auto tok = imported(t);
  const Strings texts = texts_with(names);
  const auto file = folder_with(like ? *like : t, json::object()) / "tokenizer.json";
  for (const bool specials : {false, true}) {
    const auto want = hf_ids(file, texts, specials);
    ASSERT_EQ(want.size(), texts.size());
    for (size_t i = 0; i < want.size(); ++i) {
      const Ids ids = specials ? tok->encode_with_specials(texts[i]) : tok->encode(texts[i]);
      ASSERT_EQ(ids, want[i]) << (specials ? "with specials: " : "") << ::testing::PrintToString(texts[i]);
      if (specials) continue;
      for (const int32_t id : ids) ASSERT_TRUE(!tok->is_special(id) || tok->name(id) == "<unk>");
    }
  }
}

TEST(Kinds, Qwen3) {
  json t = pocket_json();
  t["normalizer"] = {{"type", "NFC"}};
  t["pre_tokenizer"] = steps({split(kQwen2), level(false)});
  t["added_tokens"].push_back(added(kPocketVocab, "<think>", false));
  t["added_tokens"].push_back(added(kPocketVocab + 1, "<tool_call>", false));
  expect_same(t, {"<think>", "<tool_call>", "<|end|>", "<|user|>"});
  const auto tok = imported(t);
  for (const std::string& s : texts_with({"<think>"})) ASSERT_EQ(tok->decode(tok->encode(s)), nfc(s));
  for (const std::string& s : odd_bytes()) EXPECT_EQ(tok->decode(tok->encode(s)), nfc(s));
  // Only a template names it, and then it is shown.
  EXPECT_EQ(tok->encode_with_specials("<think>"), Ids{2048});
  EXPECT_EQ(tok->decode({2048}), "<think>");
}

// Characters that NFC makes of others never make a special's name.
TEST(Kinds, NfcMakesNoSpecial) {
  json t = pocket_json();
  t["normalizer"] = {{"type", "NFC"}};
  t["added_tokens"].push_back(added(kPocketVocab, "<K>", true));
  t["added_tokens"].push_back(added(kPocketVocab + 1, "<\u00e9>", true));
  const auto tok = imported(t);
  for (const char* typed : {"<\u212a>", "<e\u0301>", "<K>", "<\u00e9>"}) {
    for (const int32_t id : tok->encode(typed)) EXPECT_LT(id, 2043) << typed;
    for (const int32_t id : framed(*tok, "<|user|>", typed, "")) EXPECT_LT(id, 2048) << typed;
  }
  EXPECT_EQ(tok->decode(tok->encode("<\u212a>")), "<K>");
  for (const int32_t id : tok->encode_with_specials("<\u212a><e\u0301>")) EXPECT_LT(id, 2043);
  EXPECT_EQ(tok->encode_with_specials("<K><\u00e9>"), (Ids{2048, 2049}));
}

// Digits one by one, then GPT-2's pattern. The reference's Digits know ASCII's alone.
TEST(Kinds, SmolLm) {
  json t = pocket_json(), like = pocket_json();
  t["pre_tokenizer"] = steps({{{"type", "Digits"}, {"individual_digits", true}}, level(true)});
  like["pre_tokenizer"] = steps({split("\\p{N}"), split(kGpt2), level(false)});
  expect_same(t, {"<|end|>"}, &like);
  t["pre_tokenizer"]["pretokenizers"][0]["individual_digits"] = false;
  like["pre_tokenizer"]["pretokenizers"][0] = split("\\p{N}+");
  expect_same(t, {}, &like);
}

// Three patterns in turn, as DeepSeek's tokenizers have them.
TEST(Kinds, SeveralSplits) {
  json t = pocket_json();
  t["normalizer"] = {{"type", "Sequence"}, {"normalizers", json::array()}};
  t["pre_tokenizer"] =
      steps({split("\\p{N}{1,3}"), split("[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+"), split(kGpt2), level(false)});
  t["added_tokens"].push_back(added(kPocketVocab, "<\uff5cUser\uff5c>", false));
  expect_same(t, {"<\uff5cUser\uff5c>"});
  // No special by its flag, but a user's text must not become it.
  for (const int32_t id : imported(t)->encode("<\uff5cUser\uff5c>")) EXPECT_LT(id, 2043);
}

// Runs of blanks added by hand are part of texts.
TEST(Kinds, Phi2) {
  json t = pocket_json();
  t["pre_tokenizer"] = steps({split(kGpt2), level(false)});
  uint32_t id = kPocketVocab;
  for (size_t n = 31; n >= 2; --n) t["added_tokens"].push_back(added(id++, std::string(n, ' ').c_str(), false));
  for (size_t n = 9; n >= 2; --n) t["added_tokens"].push_back(added(id++, std::string(n, '\t').c_str(), false));
  expect_same(t, {"\t\t\t", "<|end|>"});
  const auto tok = imported(t);
  EXPECT_EQ(tok->encode(std::string(33, ' ')), (Ids{2048, 2048 + 29}));
  for (const std::string& s : texts_with({"\t\t"})) ASSERT_EQ(tok->decode(tok->encode(s)), s);
}

TEST(Kinds, SpecialsThatTakeWhiteSpaceAlong) {
  json t = pocket_json();
  t["pre_tokenizer"] = steps({split(kGpt2), level(false)});
  t["added_tokens"].push_back(added(kPocketVocab, "<left>", true, true, false));
  t["added_tokens"].push_back(added(kPocketVocab + 1, "<right>", true, false, true));
  t["added_tokens"].push_back(added(kPocketVocab + 2, "<both>", false, true, true));
  expect_same(t, {"<left>", "<right>", "<both>", "<|end|>"});
  const auto tok = imported(t);
  const Ids hi = tok->encode("hi");
  Ids want = {2049};
  want.insert(want.end(), hi.begin(), hi.end());
  want.push_back(2048);
  // It reaches over the seams of a frame, and from an empty text on.
  EXPECT_EQ(framed(*tok, "<right>\n", " \u3000hi \n", " <left>"), want);
  EXPECT_EQ(framed(*tok, "<right>\n", "", " hi<left>"), want);
  // and after a reply that was sampled so
  const Ids sampled = {2049};
  const TextPart parts[] = {{{}, true, sampled}, {"\n hi<left>", false, {}}};
  Ids ids;
  std::vector<bool> given;
  tok->encode_parts(parts, ids, given);
  EXPECT_EQ(ids, want);
}

// SentencePiece's kind: bytes, characters, dense made-up merges over a few of them.
json pieces() {
  json t = pocket_json(), vocab = json::object(), merges = json::array();
  uint32_t id = 0;
  for (const char* s : {"<unk>", "<s>", "</s>"}) vocab[s] = id++;
  for (unsigned b = 0; b < 256; ++b) { vocab[fmt::format("<0x{:02X}>", b)] = id++; }
  for (char c = '!'; c <= '~'; ++c) vocab[std::string(1, c)] = id++;
  for (const char* s : {"\u2581", "\u00e9", "\u4e16", "\U0001f600"}) vocab[s] = id++;
  Random rng(3);
  Strings pool = {"\u2581", "e", "l", "o", "h", "\u4e16", "<", "a"};
  while (merges.size() < 300) {
    const std::string left = pool[rng.below(pool.size())], right = pool[rng.below(pool.size())];
    if (left.size() + right.size() > 24 || vocab.contains(left + right)) continue;
    vocab[left + right] = id++;
    pool.push_back(left + right);
    merges.push_back({left, right});
  }
  t["model"] = {{"type", "BPE"},         {"unk_token", "<unk>"}, {"fuse_unk", true},
                {"byte_fallback", true}, {"vocab", vocab},       {"merges", merges}};
  t["added_tokens"] = {added(0, "<unk>", true), added(1, "<s>", true), added(2, "</s>", true)};
  t["normalizer"] = {{"type", "Sequence"},
                     {"normalizers",
                      {{{"type", "Prepend"}, {"prepend", "\u2581"}},
                       {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "\u2581"}}}}};
  t["pre_tokenizer"] = nullptr;
  t["post_processor"] = nullptr;
  t["decoder"] = {{"type", "Sequence"},
                  {"decoders",
                   {{{"type", "Replace"}, {"pattern", {{"String", "\u2581"}}}, {"content", " "}},
                    {{"type", "ByteFallback"}},
                    {{"type", "Fuse"}},
                    {{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}}}}};
  return t;
}

json with_metaspace(const char* scheme) {
  json t = pieces();
  t["normalizer"] = nullptr;
  t["pre_tokenizer"] = {{"type", "Metaspace"}, {"replacement", "\u2581"}, {"prepend_scheme", scheme}, {"split", false}};
  return t;
}

TEST(Kinds, Llama2) {
  const json t = pieces();
  expect_same(t, {"<s>", "</s>", "hello"});
  const auto tok = imported(t);
  for (const std::string& s : texts_with({"<s>"})) ASSERT_EQ(tok->decode(tok->encode(s)), s);
  for (const std::string& s : odd_bytes()) EXPECT_EQ(tok->decode(tok->encode(s)), s);
}

TEST(Kinds, Phi3) {
  json t = pieces();
  const auto next = static_cast<uint32_t>(t["model"]["vocab"].size());
  t["added_tokens"].push_back(added(next, "<|user|>", true, false, true));
  t["added_tokens"].push_back(added(next + 1, "<|end|>", true, false, true));
  t["added_tokens"][2] = added(2, "</s>", false, false, true);
  expect_same(t, {"<|user|>", "<|end|>", "</s>"});
}

TEST(Kinds, Metaspaces) {
  for (const char* scheme : {"always", "first", "never"}) {
    SCOPED_TRACE(scheme);
    const json t = with_metaspace(scheme);
    expect_same(t, {"<s>", "</s>", "hello"});
    const auto tok = imported(t);
    // A blank comes before a text that has none, so that one of those before it is lost, as in the reference.
    const bool bare = std::string(scheme) != "never";
    EXPECT_EQ(tok->decode(tok->encode("hello")), "hello");
    EXPECT_EQ(tok->decode(tok->encode("  hello")), bare ? " hello" : "  hello");
  }
  // Where only the first text gets a blank, only it loses one.
  const auto tok = imported(with_metaspace("first"));
  EXPECT_EQ(tok->decode(tok->encode_with_specials("</s> hello")), " hello");
  EXPECT_EQ(imported(with_metaspace("always"))->decode(tok->encode_with_specials("</s> hello")), "hello");
}

// White space added by hand: what comes after it is a stretch of text of its own, with a blank before it.
TEST(Kinds, PiecesTakenWhole) {
  for (json t : {pieces(), with_metaspace("first")}) {
    t["added_tokens"].push_back(added(static_cast<uint32_t>(t["model"]["vocab"].size()), "\n\n", false));
    expect_same(t, {"<s>", "\n\n"});
  }
  json t = pieces();
  t["added_tokens"].push_back(added(static_cast<uint32_t>(t["model"]["vocab"].size()), "\n\n", false));
  const auto tok = imported(t);
  for (const std::string& s : texts_with({"\n\n"})) ASSERT_EQ(tok->decode(tok->encode(s)), s);
}

// The older form of the flag, and words cut at their blanks (which the reference does not do).
TEST(Kinds, MetaspacesOlderForms) {
  json t = with_metaspace("always");
  t["pre_tokenizer"] = {{"type", "Metaspace"}, {"replacement", "\u2581"}, {"add_prefix_space", false}, {"split", false}};
  EXPECT_EQ(imported(t)->encode("hello"), imported(with_metaspace("never"))->encode("hello"));
  // A merge across words, which must not happen where they are cut.
  t["model"]["vocab"]["o\u2581"] = t["model"]["vocab"].size();
  t["model"]["merges"].insert(t["model"]["merges"].begin(), json::array({"o", "\u2581"}));
  const auto whole = imported(t);
  t["pre_tokenizer"]["split"] = true;
  const auto cut = imported(t);
  Random rng(8);
  size_t others = 0;
  for (int round = 0; round < 300; ++round) {
    std::string text;
    Ids want;
    while (text.size() < 30) {
      std::string word(rng.below(3) ? 1 : 0, ' ');
      if (rng.below(4) || word.empty()) word += "eloha<"[rng.below(6)];
      for (size_t k = rng.below(4); word.back() != ' ' && k > 0; --k) word += "eloha<"[rng.below(6)];
      if (!text.empty() && word[0] != ' ') continue;  // only a blank parts words
      text += word;
      const Ids ids = whole->encode(word);
      want.insert(want.end(), ids.begin(), ids.end());
    }
    EXPECT_EQ(cut->encode(text), want) << text;
    others += whole->encode(text) != want;
  }
  EXPECT_GT(others, 0u) << "no text shows the difference";
}

TEST(Kinds, NoBytesToFallBackOn) {
  for (const bool fuse : {true, false}) {
    json t = pieces();
    t["model"]["byte_fallback"] = false;
    t["model"]["fuse_unk"] = fuse;
    expect_same(t);
  }
}

TEST(Kinds, RefusesOfSentencePiece) {
  const std::pair<std::function<void(json&)>, Strings> rows[] = {
      {[](json& t) { t["model"]["unk_token"] = "<nothing>"; }, {"model.unk_token", "<nothing>"}},
      {[](json& t) {
         t["model"]["byte_fallback"] = false;
         t["model"]["unk_token"] = nullptr;
       },
       {"model", "byte_fallback", "unk_token"}},
      {[](json& t) { t["model"]["ignore_merges"] = true; }, {"model.ignore_merges"}},
      {[](json& t) { t["model"]["vocab"].erase("<0x41>"); }, {"0x41"}},
      {[](json& t) { t["normalizer"]["normalizers"][0]["prepend"] = " "; }, {"normalizers[0].prepend", "\u2581"}},
      {[](json& t) { t["normalizer"]["normalizers"][1]["content"] = "_"; }, {"normalizers[1].content", "_"}},
      {[](json& t) { t["normalizer"]["normalizers"][1]["pattern"]["String"] = "x"; }, {"normalizers[1]", "Replace"}},
      {[](json& t) { t["decoder"]["decoders"][1]["type"] = "WordPiece"; }, {"decoders[1]", "WordPiece"}},
      {[](json& t) {
         t["pre_tokenizer"] = {{"type", "Digits"}};
       },
       {"pre_tokenizer", "Digits", "Metaspace"}},
      {[](json& t) {
         t["pre_tokenizer"] = {{"type", "Metaspace"}, {"replacement", "_"}};
       },
       {"pre_tokenizer.replacement", "_"}},
      {[](json& t) {
         t["pre_tokenizer"] = {{"type", "Metaspace"}, {"prepend_scheme", "last"}};
       },
       {"pre_tokenizer.prepend_scheme", "last"}},
  };
  for (const auto& [change, parts] : rows) {
    json t = pieces();
    change(t);
    const std::string error = error_of([&] { imported(t); });
    for (const std::string& p : parts) EXPECT_NE(error.find(p), std::string::npos) << "\"" << error << "\" lacks \"" << p << "\"";
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  }
}

// StarCoder's vocabulary and those of its like have no token for bytes that texts never have.
TEST(Kinds, BytesWithoutATokenAreReplaced) {
  json t = pocket_json();
  for (const int b : {0xc0, 0xf1, 0xff}) t["model"]["vocab"].erase(byte_map_encode(std::string(1, static_cast<char>(b))));
  const auto tok = imported(t);
  EXPECT_EQ(tok->decode(tok->encode("a\xc0z\xff\xff")), "a\ufffdz\ufffd\ufffd");
  EXPECT_EQ(tok->decode(tok->encode("\xf1\x80\x80\x80")), "\ufffd\x80\x80\x80");
  EXPECT_EQ(tok->decode(tok->encode("\xc1\x80\u00e9")), "\xc1\x80\u00e9");
}

}  // namespace
}  // namespace nyb
