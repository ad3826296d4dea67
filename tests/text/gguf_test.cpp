// What the keys tokenizer.* of a GGUF file may hold: read rightly, or refused with one sentence.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>

#include "model/gguf.h"
#include "support/gguf_file.h"
#include "text/byte_map.h"
#include "text/gguf_pre.h"
#include "text/regex_import.h"
#include "text/splitter.h"
#include "text_support.h"

namespace nyb {
namespace {
using namespace test;
using Strings = std::vector<std::string>;
using U = std::vector<uint32_t>;

constexpr uint32_t kVocab = 300;

struct Parts {
  Strings tokens, merges;
  std::vector<int32_t> types;
  std::vector<float> scores;
  void add(const std::string& text, int32_t type, float score = 0) {
    tokens.push_back(text);
    types.push_back(type);
    scores.push_back(score);
  }
  GgufMade file(const char* model) const {
    GgufMade f;
    f.set("general.architecture", gguf::str("llama"));
    f.set("tokenizer.ggml.model", gguf::str(model));
    f.set("tokenizer.ggml.tokens", gguf::strs(tokens));
    f.set("tokenizer.ggml.token_type", gguf::list(5, types));
    if (!merges.empty()) f.set("tokenizer.ggml.merges", gguf::strs(merges));
    if (std::string(model) == "llama") f.set("tokenizer.ggml.scores", gguf::list(6, scores));
    return f;
  }
};

// 256 bytes, "he" and "hey", two specials and two tokens added by hand.
Parts words() {
  Parts p;
  for (int b = 0; b < 256; ++b) p.add(byte_map_encode(std::string(1, static_cast<char>(b))), 1);
  p.add("he", 1);       // 256
  p.add("hey", 1);      // 257
  p.add("<|bos|>", 3);  // 258
  p.add("<|im_end|>", 3);
  p.add("<think>", 4);  // 260
  p.add("\n\n", 4);     // 261
  p.add("[PAD]", 5);    // 262
  p.merges = {"h e", "he y"};
  return p;
}
GgufMade words_file() {
  return words().file("gpt2").set("tokenizer.ggml.pre", gguf::str("gpt-2")).set("tokenizer.ggml.bos_token_id", gguf::u32(258));
}

// <unk> <s> </s>, 256 bytes from 3 on, "\u2581" 259, "h" 260, "e" 261, "he" 262, "\u2581he" 263, "<|end|>" 264
Parts pieces() {
  Parts p;
  p.add("<unk>", 2);
  p.add("<s>", 3);
  p.add("</s>", 3);
  for (int b = 0; b < 256; ++b) { p.add(fmt::format("<0x{:02X}>", b), 6); }
  p.add("\u2581", 1, -5);
  p.add("h", 1, -6);
  p.add("e", 1, -7);
  p.add("he", 1, -1);
  p.add("\u2581he", 1, -2);
  p.add("<|end|>", 3);
  return p;
}
GgufMade pieces_file() {
  return pieces().file("llama").set("tokenizer.ggml.bos_token_id", gguf::u32(1)).set("tokenizer.ggml.eos_token_id", gguf::u32(2));
}

Meta imported(const GgufMade& file, uint32_t vocab = kVocab) {
  const auto folder = folder_with({{"m.gguf", file.bytes()}});
  Meta meta;
  tok_import_gguf(Gguf((folder / "m.gguf").string()), vocab, meta);
  return meta;
}
std::unique_ptr<Tokenizer> tokenizer(const GgufMade& file) { return Tokenizer::from_meta(imported(file)); }

TEST(GgufTokenizer, Words) {
  const auto tok = tokenizer(words_file());
  EXPECT_EQ(tok->size(), kVocab);
  EXPECT_EQ(tok->encode("hey he"), (Ids{257, ' ', 256}));
  EXPECT_EQ(tok->encode("a\n\n\nb"), (Ids{'a', 261, '\n', 'b'}));
  for (const char* typed : {"<|bos|>", "<think>", "[PAD]"}) EXPECT_EQ(tok->encode(typed).size(), std::string(typed).size());
  EXPECT_EQ(tok->encode_with_specials("<|bos|><think>"), (Ids{258, 260}));
  EXPECT_EQ(tok->decode({258, 260, 257}), "<think>hey");
  EXPECT_EQ(tok->bos(), 258);
  EXPECT_EQ(tok->ends(), Ids{259});
  EXPECT_TRUE(imported(words_file()).entries().at(key::tok_named).required);
}

TEST(GgufTokenizer, WhatTheNamesOfPreStandFor) {
  GgufMade f = words_file();
  const auto with = [&](const char* pre) { return imported(f.set("tokenizer.ggml.pre", gguf::str(pre))); };
  EXPECT_EQ(with("llama-bpe").get<std::string>(key::tok_kind), "bpe-words");
  EXPECT_EQ(with("llama-bpe").get<uint64_t>(key::tok_add_bos), 1u);
  EXPECT_EQ(with("smollm").get<Strings>(key::tok_patterns).size(), 2u);
  EXPECT_EQ(with("qwen2").get<std::string>(key::tok_normal), "nfc");
  EXPECT_FALSE(with("gpt-2").has(key::tok_normal));
  EXPECT_EQ(with("gpt-2").get<uint64_t>(key::tok_add_bos), 0u);
  EXPECT_EQ(with("default").get<Strings>(key::tok_patterns),
            imported(f.erase("tokenizer.ggml.pre")).get<Strings>(key::tok_patterns));
  // The file has the last word.
  f.set("tokenizer.ggml.pre", gguf::str("llama-bpe")).set("tokenizer.ggml.add_bos_token", gguf::boolean(0));
  EXPECT_EQ(imported(f).get<uint64_t>(key::tok_add_bos), 0u);
  f.set("tokenizer.ggml.pre", gguf::str("gpt-2")).set("tokenizer.ggml.add_bos_token", gguf::boolean(1));
  EXPECT_EQ(imported(f).get<uint64_t>(key::tok_add_bos), 1u);
  // No BOS is none, whatever else is said.
  const auto none = tokenizer(f.erase("tokenizer.ggml.bos_token_id"));
  EXPECT_FALSE(none->bos());
  EXPECT_FALSE(none->add_bos());
}

// What one pattern after the other makes of digits, a contraction in capitals, letters of both cases, and a letter with its mark.
TEST(GgufTokenizer, EachPreCutsAsItsModelsDo) {
  struct Kind {
    Strings names, cuts;
  };
  const Kind kinds[] = {
      {{"llama-bpe", "llama3", "llama-v3", "dbrx", "smaug-bpe"}, {"123|45", "I|'LL", "camelCase", "\u092e|\u093f"}},
      {{"qwen2", "deepseek-r1-qwen", "stablelm2"}, {"1|2|3|4|5", "I|'LL", "camelCase", "\u092e|\u093f"}},
      {{"qwen35"}, {"1|2|3|4|5", "I|'LL", "camelCase", "\u092e\u093f"}},
      {{"tekken"}, {"1|2|3|4|5", "I|'LL", "camel|Case", "\u092e\u093f"}},
      {{"gpt-2", "phi-2"}, {"12345", "I|'|LL", "camelCase", "\u092e|\u093f"}},
      {{"smollm", "starcoder", "refact", "command-r"}, {"1|2|3|4|5", "I|'|LL", "camelCase", "\u092e|\u093f"}},
      {{"default"}, {"123|45", "I|'|LL", "camelCase", "\u092e|\u093f"}}};
  constexpr const char* texts[] = {"12345", "I'LL", "camelCase", "\u092e\u093f"};
  size_t rows = 0;
  for (const Kind& kind : kinds) {
    for (const std::string& name : kind.names) {
      const GgufPre* pre = gguf_pre(name);
      ASSERT_TRUE(pre) << name;
      rows++;
      Strings patterns;
      for (const std::string_view p : pre->patterns) patterns.push_back(regex_import(p, name));
      const Splitter splitter(patterns);
      for (size_t i = 0; i < std::size(texts); i++) {
        Strings words;
        splitter.split(texts[i], [&](std::string_view w) { words.emplace_back(w); });
        EXPECT_EQ(fmt::format("{}", fmt::join(words, "|")), kind.cuts[i]) << name;
      }
      const bool llama3 = name == "llama-bpe" || name == "llama3" || name == "llama-v3" || name == "tekken";
      EXPECT_EQ(pre->whole_words, llama3) << name;
      EXPECT_EQ(pre->adds_bos, llama3) << name;
      EXPECT_EQ(pre->nfc, name == "qwen2" || name == "deepseek-r1-qwen") << name;
    }
  }
  EXPECT_EQ(rows, gguf_pres().size());
}

TEST(GgufTokenizer, Pieces) {
  const auto tok = tokenizer(pieces_file());
  EXPECT_EQ(tok->encode("he he"), (Ids{263, 263}));
  EXPECT_EQ(tok->encode("\u00e9"), (Ids{259, 3 + 0xc3, 3 + 0xa9}));
  EXPECT_EQ(tok->decode(tok->encode("he\xff")), "he\xff");
  EXPECT_EQ(tok->bos(), 1);
  EXPECT_TRUE(tok->add_bos());
  EXPECT_EQ(tok->ends(), (Ids{2, 264}));
  EXPECT_EQ(tokenizer(pieces_file().set("tokenizer.ggml.add_space_prefix", gguf::boolean(0)))->encode("he"), Ids{262});
  EXPECT_FALSE(tokenizer(pieces_file().set("tokenizer.ggml.add_bos_token", gguf::boolean(0)))->add_bos());
  EXPECT_EQ(tok->encode_with_specials("<|end|>\nhe"), (Ids{264, 259, 3 + '\n', 262}));
  const auto phi3 = tokenizer(pieces_file().set("general.architecture", gguf::str("phi3")));
  EXPECT_EQ(phi3->encode_with_specials("<|end|>\nhe"), (Ids{264, 263}));
  EXPECT_EQ(phi3->encode_with_specials("<s>\nhe"), (Ids{1, 259, 3 + '\n', 262}));
  // a blank of a text is never spelled as one
  Parts blank = pieces();
  blank.add(" e", 1, 9);
  EXPECT_EQ(tokenizer(blank.file("llama"))->encode("h e"), (Ids{259, 260, 259, 261}));
  // by its type, where no key names it
  EXPECT_EQ(imported(pieces_file()).get<uint64_t>(key::tok_unknown), 0u);
}

// What was added by hand or is unused is no text's, even where words are taken whole or pieces spell it.
TEST(GgufTokenizer, TextNeverBecomesWhatATemplateNames) {
  Parts w = words();
  w.add("zz", 4);
  w.add("qq", 5);
  w.add("xx", 1);
  const auto tok = tokenizer(w.file("gpt2").set("tokenizer.ggml.pre", gguf::str("llama-bpe")));
  EXPECT_EQ(tok->encode("xx"), Ids{265});
  EXPECT_EQ(tok->encode("zz"), (Ids{'z', 'z'}));
  EXPECT_EQ(tok->encode("qq"), (Ids{'q', 'q'}));
  EXPECT_EQ(tok->encode_with_specials("azz"), (Ids{'a', 263}));
  Parts p = pieces();
  p.add("hh", 4, 9);
  const auto spm = tokenizer(p.file("llama"));
  EXPECT_EQ(spm->encode("hh"), (Ids{259, 260, 260}));
  EXPECT_EQ(spm->encode_with_specials("hh"), Ids{265});
}

TEST(GgufTokenizer, EndsAreASet) {
  GgufMade f = pieces_file();
  f.set("tokenizer.ggml.eos_token_id", gguf::u32(262));
  f.set("tokenizer.ggml.eot_token_id", gguf::i32(263)).set("tokenizer.ggml.eom_token_id", gguf::u64(0));
  const auto tok = tokenizer(f);
  EXPECT_EQ(tok->ends(), (Ids{0, 2, 262, 263, 264}));
  EXPECT_TRUE(tok->is_special(262));  // text never becomes an end
  Parts by_hand = pieces();
  by_hand.add("<|im_end|>", 4);
  EXPECT_EQ(tokenizer(by_hand.file("llama"))->ends(), (Ids{2, 264, 265})) << "known by their names";
  EXPECT_EQ(imported(f.set("tokenizer.chat_template", gguf::str("x"))).get<std::string>(key::chat_template), "x");
}

TEST(GgufTokenizer, NoTokenizerAtAll) {
  EXPECT_TRUE(imported(words_file().erase("tokenizer.ggml.model")).entries().empty());
  EXPECT_TRUE(imported(words_file().set("tokenizer.ggml.model", gguf::str("none"))).entries().empty());
}

// Two tokens of one text: the first stands, and both are printed.
TEST(GgufTokenizer, TextsThatComeTwice) {
  Parts w = words();
  w.add("hey", 1);
  w.add("a", 1);
  w.add("he", 3);
  const auto tok = tokenizer(w.file("gpt2").set("tokenizer.ggml.pre", gguf::str("gpt-2")));
  EXPECT_EQ(tok->encode("hey a"), (Ids{257, ' ', 'a'}));
  EXPECT_EQ(tok->bytes(263), "hey");
  Parts p = pieces();
  p.add("he", 1, 5);
  p.add("<0x41>", 6);
  const auto spm = tokenizer(p.file("llama"));
  EXPECT_EQ(spm->encode("heA"), (Ids{263, 3 + 'A'}));
  EXPECT_EQ(spm->bytes(265), "he");
}

TEST(GgufTokenizer, EmptyTextsAndNoTypes) {
  Parts w = words();
  w.add("", 3);
  w.add("", 1);
  EXPECT_EQ(tokenizer(w.file("gpt2"))->encode("hey"), Ids{257});
  EXPECT_EQ(tokenizer(words_file().erase("tokenizer.ggml.token_type"))->encode("hey"), Ids{257});
}

TEST(GgufTokenizer, RefusesWithFileAndKey) {
  using Change = std::function<void(GgufMade&)>;
  const std::pair<Change, Strings> of_words[] = {
      {[](GgufMade& f) { f.set("tokenizer.ggml.model", gguf::str("bert")); }, {"tokenizer.ggml.model", "bert", "gpt2"}},
      {[](GgufMade& f) { f.set("tokenizer.ggml.model", gguf::u32(1)); }, {"tokenizer.ggml.model"}},
      {[](GgufMade& f) { f.set("tokenizer.ggml.pre", gguf::str("klingon")); }, {"tokenizer.ggml.pre", "klingon", "llama-bpe"}},
      {[](GgufMade& f) { f.erase("tokenizer.ggml.tokens"); }, {"tokenizer.ggml.tokens", "missing"}},
      {[](GgufMade& f) { f.erase("tokenizer.ggml.merges"); }, {"tokenizer.ggml.merges", "missing"}},
      {[](GgufMade& f) { f.set("tokenizer.ggml.tokens", gguf::strs(Strings(301, "x"))); }, {"tokenizer.ggml.tokens", "301", "300"}},
      {[](GgufMade& f) { f.set("tokenizer.ggml.tokens", gguf::strs({"a"})); }, {"tokenizer.ggml.token_type", "263", "1 tokens"}},
      {[](GgufMade& f) { f.set("tokenizer.ggml.token_type", gguf::list(5, std::vector<int32_t>(263, 9))); },
       {"token_type", "type 9"}},
      {[](GgufMade& f) { f.set("tokenizer.ggml.token_type", gguf::list(5, std::vector<int32_t>(263, -1))); }, {"token_type", "-1"}},
      {[](GgufMade& f) { f.set("tokenizer.ggml.token_type", gguf::list(5, std::vector<int32_t>(263, 3))); }, {"0x00"}},
      {[](GgufMade& f) {
         f.set("tokenizer.ggml.merges", gguf::strs({"h e", "h z"}));
       },
       {"tokenizer.ggml.merges[1]", "hz"}},
      {[](GgufMade& f) { f.set("tokenizer.ggml.merges", gguf::strs({"he"})); }, {"tokenizer.ggml.merges[0]", "he"}},
      {[](GgufMade& f) { f.set("tokenizer.ggml.merges", gguf::strs({" he"})); }, {"tokenizer.ggml.merges[0]"}},
      {[](GgufMade& f) { f.set("tokenizer.ggml.bos_token_id", gguf::u32(263)); }, {"tokenizer.ggml.bos_token_id", "263"}},
      {[](GgufMade& f) { f.set("tokenizer.ggml.eos_token_id", gguf::i32(-1)); }, {"tokenizer.ggml.eos_token_id", "-1"}},
      {[](GgufMade& f) { f.set("tokenizer.ggml.eot_token_id", gguf::u64(1ull << 40)); }, {"eot_token_id", "1099511627776"}},
      {[](GgufMade& f) { f.set("tokenizer.ggml.eos_token_id", gguf::u32('A')); }, {"0x41"}},
      {[](GgufMade& f) { f.set("tokenizer.chat_template", gguf::u32(1)); }, {"tokenizer.chat_template"}},
  };
  const std::pair<Change, Strings> of_pieces[] = {
      {[](GgufMade& f) { f.erase("tokenizer.ggml.scores"); }, {"tokenizer.ggml.scores", "missing"}},
      {[](GgufMade& f) { f.erase("tokenizer.ggml.token_type"); }, {"tokenizer.ggml.token_type", "missing"}},
      {[](GgufMade& f) { f.set("tokenizer.ggml.scores", gguf::list(6, std::vector<float>(264, 0))); }, {"scores", "264", "265"}},
      {[](GgufMade& f) { f.set("tokenizer.ggml.scores", gguf::list(6, std::vector<float>(265, 1.0F / 0.0F))); }, {"finite"}},
      {[](GgufMade& f) { f.set("tokenizer.ggml.remove_extra_whitespaces", gguf::boolean(1)); }, {"remove_extra_whitespaces"}},
      {[](GgufMade& f) { f.set("tokenizer.ggml.token_type", gguf::list(5, std::vector<int32_t>(265, 6))); },
       {"tok.tokens", "token 0"}},
      {[](GgufMade& f) { f.set("tokenizer.ggml.unknown_token_id", gguf::u32(999)); }, {"unknown_token_id", "999"}},
  };
  const auto check = [](const GgufMade& file, const Strings& parts) {
    const std::string error = error_of([&] { imported(file); });
    EXPECT_NE(error.find("m.gguf"), std::string::npos) << error;
    for (const std::string& p : parts) EXPECT_NE(error.find(p), std::string::npos) << "\"" << error << "\" lacks \"" << p << "\"";
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  };
  for (const auto& [change, parts] : of_words) {
    GgufMade f = words_file();
    change(f);
    check(f, parts);
  }
  for (const auto& [change, parts] : of_pieces) {
    GgufMade f = pieces_file();
    change(f);
    check(f, parts);
  }
}

}  // namespace
}  // namespace nyb
