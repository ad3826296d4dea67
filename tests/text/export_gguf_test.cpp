// Tokenizers out to the keys of a GGUF, and back.
#include "text/export_gguf.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "model/gguf.h"
#include "support/data.h"
#include "text/gguf_pre.h"
#include "text/regex_import.h"
#include "text_support.h"

namespace nyb::test {
namespace {

struct Exported {
  std::string file;
  std::vector<std::string> notes;
};
Exported exported(const Meta& meta) {
  Exported e;
  GgufKeys keys;
  keys.str("general.architecture", "llama");
  tok_export_gguf(meta, keys, e.notes);
  e.file = (tmp_dir() / "tokenizer.gguf").string();
  GgufWriter(e.file, keys, {}).finish();
  return e;
}

Meta back(const Exported& e, uint32_t vocab) {
  Meta meta;
  tok_import_gguf(Gguf(e.file), vocab, meta);
  return meta;
}

// The same ids of texts, with what a template names in them and without.
void expect_same_ids(const Meta& a, const Meta& b, const std::vector<std::string>& more = {}) {
  const auto ta = Tokenizer::from_meta(a), tb = Tokenizer::from_meta(b);
  std::vector<std::string> texts{
      "",           " ",        "Hello, world!",        "  two  blanks ", "I'LL don't",          "a\n\nb\t\tc", "1969 and 12345",
      "naïve café", "漢字かな", "\xff\xfe broken \x80", "🦙🚀",       std::string("a\0b", 3)};
  texts.insert(texts.end(), more.begin(), more.end());
  for (const std::string& t : texts) {
    EXPECT_EQ(ta->encode(t), tb->encode(t)) << t;
    EXPECT_EQ(ta->encode_with_specials(t), tb->encode_with_specials(t)) << t;
  }
  EXPECT_EQ(ta->bos(), tb->bos());
  EXPECT_EQ(ta->add_bos(), tb->add_bos());
  EXPECT_EQ(ta->ends(), tb->ends());
  if (ta->eos()) { EXPECT_EQ(ta->eos(), tb->eos()); }
}

TEST(ExportTokenizer, PocketComesBack) {
  const Exported e = exported(pocket_meta());
  EXPECT_EQ(e.notes, std::vector<std::string>{});
  const Meta meta = back(e, kPocketVocab);
  for (const auto& [k, entry] : pocket_meta().entries()) {
    if (!k.starts_with("tok.") && k != key::chat_template) continue;
    EXPECT_TRUE(meta.entries().at(k).value == entry.value) << k;
  }
  const Gguf g(e.file);
  EXPECT_EQ(g.str("tokenizer.ggml.model"), "gpt2");
  EXPECT_EQ(g.str("tokenizer.ggml.pre"), "dbrx") << "Llama 3's pattern, but no word is taken whole";
  EXPECT_EQ(g.u64("tokenizer.ggml.eos_token_id"), 2047u);
  EXPECT_EQ(g.u64("tokenizer.ggml.bos_token_id"), 2043u);
  EXPECT_EQ(g.boolean("tokenizer.ggml.add_bos_token"), true);
  EXPECT_EQ(g.ints("tokenizer.ggml.token_type")[2044], 3);
  expect_same_ids(pocket_meta(), meta, {"<|bos|><|user|>Hi<|end|>"});
}

TEST(ExportTokenizer, StoriesComeBack) {
  NYB_NEED_DATA();
  Meta meta;
  tok_import_llama2c((data_dir() / "stories260K" / "tok512.bin").string(), 512, meta);
  const Exported e = exported(meta);
  EXPECT_EQ(e.notes, std::vector<std::string>{});
  EXPECT_EQ(Gguf(e.file).str("tokenizer.ggml.model"), "llama");
  EXPECT_EQ(Gguf(e.file).strs("tokenizer.ggml.tokens")[13], "<0x0A>");
  EXPECT_EQ(Gguf(e.file).u64("tokenizer.ggml.eos_token_id"), 2u);
  expect_same_ids(meta, back(e, 512), {"Once upon a time, there was a little girl named Lily."});
}

// Real vocabularies: 50k, 152k and 32k tokens, whose files say how each is spelled.
TEST(ExportTokenizer, RealVocabulariesKeepEverySpellingAndType) {
  NYB_NEED_DATA();
  for (const char* name : {"gpt-2", "qwen2", "phi-3"}) {
    const Gguf file((data_dir() / "vocab" / (std::string("ggml-vocab-") + name + ".gguf")).string());
    const auto want = file.strs("tokenizer.ggml.tokens");
    Meta meta;
    tok_import_gguf(file, static_cast<uint32_t>(want.size()), meta);
    const Exported e = exported(meta);
    const Gguf g(e.file);
    const auto is = g.strs("tokenizer.ggml.tokens");
    ASSERT_EQ(is.size(), want.size());
    auto types = file.ints("tokenizer.ggml.token_type");
    if (name == std::string("phi-3")) {  // its padding is called unknown, and what is unknown and what ends a text by keys alone
      std::replace(types.begin(), types.end(), 2, 3);
      types[0] = 2;
      types[2] = 3;
    }
    EXPECT_TRUE(g.ints("tokenizer.ggml.token_type") == types) << name;
    size_t other = 0;
    for (size_t i = 0; i < is.size(); i++) other += is[i] != want[i];
    EXPECT_EQ(other, 0u) << name;
    EXPECT_EQ(g.strs("tokenizer.ggml.merges"), file.strs("tokenizer.ggml.merges")) << name;
    EXPECT_EQ(std::set<std::string_view>(is.begin(), is.end()).size(), is.size()) << name;
    if (file.str("tokenizer.ggml.model") == "gpt2") { EXPECT_EQ(g.str("tokenizer.ggml.pre"), file.str("tokenizer.ggml.pre")); }
    Meta again;
    tok_import_gguf(g, static_cast<uint32_t>(want.size()), again);
    expect_same_ids(meta, again);
  }
}

TEST(ExportTokenizer, EveryTokenHasATextOfItsOwn) {
  Meta meta = pocket_meta();
  auto tokens = meta.get<std::vector<std::string>>(key::tok_tokens);
  auto specials = meta.get<std::vector<uint32_t>>(key::tok_specials);
  tokens.insert(tokens.end(), {"", "<|end|>", "<|reserved_0|>", ""});
  specials.push_back(2049);
  specials.push_back(2050);
  meta.set(key::tok_tokens, tokens, true);
  meta.set(key::tok_specials, specials, true);
  const Exported e = exported(meta);
  const Gguf g(e.file);
  const auto is = g.strs("tokenizer.ggml.tokens");
  EXPECT_EQ(std::set<std::string_view>(is.begin(), is.end()).size(), is.size());
  EXPECT_EQ(is[2047], "<|end|>");
  EXPECT_EQ(is[2048], "<|reserved_1|>");
  EXPECT_EQ(is[2049], "<|reserved_2|>");
  EXPECT_EQ(is[2050], "<|reserved_0|>");
  EXPECT_EQ(is[2051], "<|reserved_3|>");
  const auto types = g.ints("tokenizer.ggml.token_type");
  EXPECT_EQ(types[2048], 5);
  EXPECT_EQ(types[2049], 3);
}

// SentencePiece's by a list of merges, which a GGUF has no place for: scores in their order make the same.
TEST(ExportTokenizer, MergesOfPiecesBecomeScores) {
  using U = std::vector<uint32_t>;
  std::vector<std::string> tokens = {"<unk>", "<s>", "<pad>"};
  U types = {2, 3, 3};
  for (int b = 0; b < 256; b++) tokens.emplace_back(1, static_cast<char>(b));
  types.resize(tokens.size(), 6);
  for (const char* piece : {"a", "b", "c", "ab", "bc", "d e"}) tokens.emplace_back(piece);
  types.resize(tokens.size(), 1);
  Meta m;
  m.set(key::tok_kind, std::string("spm"));
  m.set(key::tok_tokens, tokens);
  m.set(key::tok_types, types);
  m.set(key::tok_merges, U{260, 261, 263, 259, 260, 262});  // b c before a b
  m.set(key::tok_byte_fallback, uint64_t{1});
  m.set(key::tok_unknown, uint64_t{0});
  m.set(key::tok_specials, U{0, 1, 2});
  ASSERT_EQ(Tokenizer::from_meta(m)->encode("abc"), (Ids{259, 263}));
  const Exported e = exported(m);
  const Gguf g(e.file);
  const auto scores = g.floats("tokenizer.ggml.scores");
  EXPECT_EQ((std::vector<double>{scores[263], scores[262], scores[261], scores[5]}), (std::vector<double>{0, -1, -2, -2}));
  EXPECT_EQ(g.strs("tokenizer.ggml.tokens")[264], "d\u2581e");
  EXPECT_EQ(g.boolean("tokenizer.ggml.add_space_prefix"), false);
  EXPECT_EQ(g.boolean("tokenizer.ggml.remove_extra_whitespaces"), false);
  EXPECT_EQ(g.u64("tokenizer.ggml.unknown_token_id"), 0u);
  EXPECT_EQ(g.ints("tokenizer.ggml.token_type")[0], 2);
  ASSERT_EQ(e.notes.size(), 1u);
  EXPECT_TRUE(e.notes[0].starts_with("the tokenizer names no end of a reply")) << e.notes[0];
  expect_same_ids(m, back(e, static_cast<uint32_t>(tokens.size())), {"abc", "aabbcc", "d e"});
  m.set(key::tok_byte_fallback, uint64_t{0});
  m.set(key::tok_ends, U{2});
  ASSERT_EQ(exported(m).notes.size(), 1u);
  EXPECT_TRUE(exported(m).notes[0].starts_with("the tokenizer has no tokens for single bytes"));
}

// What a template alone may name, what is taken whole, and what no text becomes (none, or another's), in both kinds of tokenizer.
TEST(ExportTokenizer, EveryTokenHasItsType) {
  using U = std::vector<uint32_t>;
  Meta words = pocket_meta();
  words.set(key::tok_named, U{2040}, true);
  words.set(key::tok_whole, U{2041}, true);
  auto types = Gguf(exported(words).file).ints("tokenizer.ggml.token_type");
  types.resize(2044);
  EXPECT_EQ((std::vector<int64_t>{types.begin() + 2039, types.end()}), (std::vector<int64_t>{1, 4, 4, 1, 3}));

  Meta pieces;
  pieces.set(key::tok_kind, std::string("spm"));
  pieces.set(key::tok_tokens, std::vector<std::string>{"<unk>", "<s>", "<|user|>", "a", "b", "ab", "", "gone", "\n", "", "<s>"});
  pieces.set(key::tok_types, U{1, 1, 1, 1, 4, 1, 1, 5, 6, 3, 1});
  pieces.set(key::tok_scores, std::vector<double>(11, 0.0));
  pieces.set(key::tok_unknown, uint64_t{0});
  pieces.set(key::tok_specials, U{0, 1});
  pieces.set(key::tok_named, U{2, 7});
  pieces.set(key::tok_whole, U{5});
  EXPECT_EQ(Gguf(exported(pieces).file).ints("tokenizer.ggml.token_type"), (std::vector<int64_t>{2, 3, 4, 1, 4, 4, 5, 5, 6, 5, 5}));
}

TEST(ExportTokenizer, EachEndHasItsKey) {
  using U = std::vector<uint32_t>;
  Meta m = pocket_meta();
  auto tokens = m.get<std::vector<std::string>>(key::tok_tokens);
  tokens[2046] = "<|eom_id|>";
  m.set(key::tok_tokens, tokens, true);
  m.set(key::tok_ends, U{2044, 2046, 2047}, true);
  m.set(key::tok_eos, uint64_t{2044});
  const Gguf g(exported(m).file);
  EXPECT_EQ(g.u64("tokenizer.ggml.eos_token_id"), 2044u);
  EXPECT_EQ(g.u64("tokenizer.ggml.eot_token_id"), 2047u);
  EXPECT_EQ(g.u64("tokenizer.ggml.eom_token_id"), 2046u);
  // none is called so: the first that begins no text
  Meta several = pocket_meta();
  several.set(key::tok_ends, U{2043, 2047}, true);
  EXPECT_EQ(Gguf(exported(several).file).u64("tokenizer.ggml.eos_token_id"), 2047u);
}

TEST(ExportTokenizer, WithoutOne) {
  const Exported e = exported(Meta());
  ASSERT_EQ(e.notes.size(), 1u);
  EXPECT_EQ(Gguf(e.file).str("tokenizer.ggml.model"), "none");
  EXPECT_FALSE(back(e, 10).has(key::tok_kind));
}

TEST(ExportTokenizer, ThePreTokenizerIsFoundOrTheDifferenceShown) {
  // GPT-4's pattern with one or two digits at a time
  const std::string digits =
      R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,2}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
  const PreChoice two = gguf_pre_of({regex_import(digits, "here")}, false);
  EXPECT_EQ(two.name, "llama-bpe");
  EXPECT_EQ(
      two.note,
      "no pre-tokenizer of llama.cpp cuts text as this model does; it is called \"llama-bpe\", the nearest, where \"1969\" becomes "
      "196|9 instead of 19|69");
  EXPECT_EQ(gguf_pre_of({"'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+|.+"}, false).note.substr(0, 25), "no pre-tokenizer of llama");
  const auto* own = pocket_meta().find<std::string>(key::tok_pattern);
  EXPECT_EQ(gguf_pre_of({*own}, true).name, "llama-bpe");
  EXPECT_EQ(gguf_pre_of({*own}, true).note, "");
  EXPECT_EQ(gguf_pre_of({*own}, false).name, "dbrx");
  // the pattern is known, but not with what is done with whole words
  for (const auto& [name, whole, is] :
       {std::tuple("qwen2", true, "apart and merges it"), {"tekken", false, "whole, without its merges"}}) {
    const PreChoice c = gguf_pre_of({regex_import(gguf_pre(name)->patterns.at(0), "here")}, whole);
    EXPECT_EQ(c.name, name);
    EXPECT_TRUE(c.note.starts_with(std::string("llama.cpp's \"") + name + "\" cuts text as this model does")) << c.note;
    EXPECT_NE(c.note.find(is), std::string::npos) << c.note;
  }
}

}  // namespace
}  // namespace nyb::test
