// The tokenizer of SentencePiece on real vocabularies: against llama.cpp's ids, and against oracles of the tests' own.
#include <gtest/gtest.h>

#include "hostile.h"
#include "spm_oracle.h"
#include "text/conversation.h"
#include "text/utf8.h"
#include "vocab_data.h"

namespace nyb {
namespace {
using namespace test;

using Strings = std::vector<std::string>;

std::filesystem::path tok512() { return data_dir() / "stories260K" / "tok512.bin"; }

const SpmOracle& small_raw() {
  static const SpmOracle v(llama2c_vocab(tok512()));
  return v;
}

// The same as SentencePiece itself has it: its types, and U+2581.
const SpmOracle& small_pieces() {
  static const SpmOracle v([] {
    RawVocab s = small_raw().vocab();
    for (size_t i = 0; i < s.pieces.size(); ++i) {
      s.types[i] = i < 3 ? 3 : i < 259 ? 6 : 1;
      std::string spelled;
      for (const char c : s.pieces[i]) spelled += c == ' ' ? "\xe2\x96\x81" : std::string(1, c);
      s.pieces[i] = spelled;
    }
    return s;
  }());
  return v;
}

const Tokenizer& small() {
  static const auto tok = [] {
    Meta m;
    tok_import_llama2c(tok512().string(), 512, m);
    return Tokenizer::from_meta(m);
  }();
  return *tok;
}

const SpmOracle& phi3_raw() {
  static const SpmOracle v(gguf_vocab(vocab_file("phi-3")));
  return v;
}

const Tokenizer& phi3() {
  static const auto tok = Tokenizer::from_meta(vocab_meta("phi-3"));
  return *tok;
}

Strings all_texts() {
  Strings all;
  for (const char* name : {"gpt-2", "qwen2", "phi-3"}) {
    const Strings some = vocab_texts(name);
    all.insert(all.end(), some.begin(), some.end());
  }
  for (const char* s : {"",
                        " ",
                        "  ",
                        "   ",
                        "    ",
                        "\t",
                        "Hello",
                        " Hello",
                        "a\r\nb",
                        "\r\n\r\n",
                        "1",
                        "12",
                        "123",
                        "123456789",
                        "it's IT'S we'll WE'LL",
                        "\u00e9",
                        "e\u0301",
                        "\u4e16\u754c",
                        "\u05e9\u05dc\u05d5\u05dd",
                        "\u0645\u0631\u062d\u0628\u0627",
                        "\U0001f600",
                        "\U0001f468\u200d\U0001f469\u200d\U0001f467",
                        "<s>",
                        "</s>",
                        "<unk>",
                        "<0x41>",
                        "\n<s>\n",
                        "Once upon a time, there was a little girl named Lily."})
    all.emplace_back(s);
  Random rng(77);
  for (int i = 0; i < 3000; ++i) all.push_back(fuzz_text(rng));
  return all;
}

std::string random_bytes(Random& rng) {
  std::string s;
  const size_t n = rng.below(64);
  for (size_t i = 0; i < n; ++i) s += static_cast<char>(rng.below(2) ? rng.next() : "\xF0\x9F\x98\x80 a'\n"[rng.below(9)]);
  return s;
}

TEST(Spm, IdsOfLlamaCppForPhi3) {
  NYB_NEED_DATA();
  EXPECT_EQ(phi3().size(), 32064u);
  const Strings texts = vocab_texts("phi-3");
  const std::vector<Ids> ids = vocab_ids("phi-3");
  ASSERT_GE(ids.size(), 40u);
  ASSERT_GE(texts.size(), ids.size());
  for (size_t i = 0; i < ids.size(); ++i) {
    EXPECT_EQ(phi3().encode(texts[i]), ids[i]) << ::testing::PrintToString(texts[i]);
    EXPECT_EQ(phi3().decode(ids[i]), texts[i]);
    EXPECT_EQ(phi3_raw().sentencepiece(texts[i]), ids[i]) << "the oracle itself";
  }
}

TEST(Spm, EqualsTheRulesWrittenPlainly) {
  NYB_NEED_DATA();
  for (const std::string& text : all_texts()) {
    const Ids ids = small().encode(text);
    ASSERT_EQ(ids, small_pieces().sentencepiece(text)) << ::testing::PrintToString(text);
    // as C has strings, llama2.c's text ends at a NUL
    if (text.find('\0') == text.npos) { ASSERT_EQ(ids, small_raw().llama2c(text)) << ::testing::PrintToString(text); }
    ASSERT_EQ(phi3().encode(text), phi3_raw().sentencepiece(text)) << ::testing::PrintToString(text);
  }
  Random rng(5);
  for (int i = 0; i < 3000; ++i) {
    const std::string bytes = random_bytes(rng);
    ASSERT_EQ(small().encode(bytes), small_pieces().sentencepiece(bytes)) << ::testing::PrintToString(bytes);
    ASSERT_EQ(phi3().encode(bytes), phi3_raw().sentencepiece(bytes)) << ::testing::PrintToString(bytes);
  }
}

// Known by llama2.c's own output for this model and by its published vocabulary.
TEST(Spm, IdsOfFixedStrings) {
  NYB_NEED_DATA();
  const std::pair<std::string, Ids> rows[] = {{"", {}},
                                              {" ", {410, 410}},
                                              {"Once upon a time", {403, 407, 261, 378}},
                                              {"\n", {410, 13}},
                                              {std::string(1, '\0'), {410, 3}},
                                              {"\xff", {410, 258}},
                                              {"\xe2\x96\x81", {410, 3 + 0xe2, 3 + 0x96, 3 + 0x81}}};
  for (const auto& [text, ids] : rows) {
    EXPECT_EQ(small().encode(text), ids) << ::testing::PrintToString(text);
    EXPECT_EQ(small().decode(ids), text);
  }
}

TEST(Spm, AnyBytesComeBack) {
  NYB_NEED_DATA();
  Strings all = odd_bytes();
  all.insert(all.end(), {"\xe2\x96\x81", "a\xe2\x96\x81 b", "\xe2\x96"});
  Random rng(6);
  for (int i = 0; i < 3000; ++i) all.push_back(random_bytes(rng));
  for (const Tokenizer* tok : {&small(), &phi3()}) {
    for (const std::string& s : all) {
      const Ids ids = tok->encode(s);
      ASSERT_EQ(tok->decode(ids), s) << ::testing::PrintToString(s);
      Ids with_bos = ids;
      with_bos.insert(with_bos.begin(), 1);
      ASSERT_EQ(tok->decode(with_bos), s) << ::testing::PrintToString(s);
      for (const int32_t id : ids) ASSERT_FALSE(tok->is_special(id)) << ::testing::PrintToString(s);
    }
  }
}

TEST(Spm, WhatLlama2cTakesForGranted) {
  NYB_NEED_DATA();
  const Tokenizer& t = small();
  EXPECT_EQ(t.size(), 512u);
  EXPECT_EQ(t.bos(), 1);
  EXPECT_TRUE(t.add_bos());
  EXPECT_EQ(t.ends(), (Ids{1, 2}));
  EXPECT_EQ(t.name(0), "<unk>");
  EXPECT_EQ(t.name(1), "<s>");
  EXPECT_EQ(t.name(2), "</s>");
  EXPECT_EQ(t.name(13), "\n");
  EXPECT_EQ(t.bytes(1), "");
  EXPECT_EQ(t.bytes(403), " Once");
  EXPECT_EQ(t.unicode_note(), "");
}

TEST(Spm, SpecialsOnlyWhereAsked) {
  NYB_NEED_DATA();
  const std::string text = "<s>a</s><unk>\n<s>\n";
  for (const int32_t id : small().encode(text)) EXPECT_FALSE(small().is_special(id)) << id;
  EXPECT_EQ(small().encode_with_specials("<s>Once</s>"), (Ids{1, 403, 2}));
  const std::string typed = "<|end|><|assistant|></s>";
  for (const int32_t id : phi3().encode(typed)) EXPECT_FALSE(phi3().is_special(id)) << id;
  Ids want = phi3().encode(typed + "x");
  want.insert(want.begin(), 32010);
  want.push_back(32007);
  EXPECT_EQ(framed(phi3(), "<|user|>", typed + "x", "<|end|>"), want);
  // Plain text that meets at a seam is one, with one blank before it.
  EXPECT_EQ(framed(phi3(), "<|user|>Hel", "lo", "<|end|>"), phi3().encode_with_specials("<|user|>Hello<|end|>"));
  EXPECT_EQ(phi3().decode(phi3().encode_with_specials("<|user|>Hello<s> x")), "Hello x");
  EXPECT_EQ(framed(phi3(), "<|user|>", "", "<|end|>"), (Ids{32010, 32007}));
}

// The blank is left out at the beginning of a text, never within one: a reply goes on where its prompt ends.
TEST(Spm, TheBlankBeforeAText) {
  NYB_NEED_DATA();
  const Tokenizer& t = small();
  EXPECT_EQ(t.bytes_after(-1, 403), "Once");
  EXPECT_EQ(t.bytes_after(1, 403), "Once");
  EXPECT_EQ(t.bytes_after(2, 403), "Once");
  EXPECT_EQ(t.bytes_after(0, 403), " Once") << "unknown text is text";
  EXPECT_EQ(t.bytes_after(407, 403), " Once");
  EXPECT_EQ(t.bytes_after(13, 403), " Once");
  EXPECT_EQ(t.bytes_after(1, 3 + ' '), " ") << "a byte is that byte";
  EXPECT_EQ(t.bytes_after(1, 410), "");
  EXPECT_EQ(t.bytes_after(1, 1), "");
  EXPECT_EQ(t.bytes_after(1, 9999), "");
  EXPECT_EQ(t.decode({1, 403, 407}), "Once upon");
  EXPECT_EQ(t.decode({403, 1, 403}), "OnceOnce");
  // a byte-level tokenizer has none
  EXPECT_EQ(pocket().bytes_after(-1, 596), pocket().bytes(596));
  EXPECT_TRUE(pocket().bytes(596).starts_with(' '));
}

TEST(Spm, ACharacterOfSeveralBytesIsStreamedWhole) {
  NYB_NEED_DATA();
  const std::string text = "a\U0001f600 \u4e16\U0001f468\u200d\U0001f469 z";
  const Ids ids = small().encode(text);
  ASSERT_GT(ids.size(), 15u);
  Utf8Stream stream;
  std::string all;
  int32_t before = 1;
  for (const int32_t id : ids) {
    const std::string piece = stream.push(small().bytes_after(before, id));
    EXPECT_TRUE(utf8_valid(piece));
    EXPECT_EQ(piece.find("\xef\xbf\xbd"), piece.npos);
    all += piece;
    before = id;
  }
  EXPECT_EQ(all, text);
  // what is pending at the end of a reply is shown as what it is: no character
  EXPECT_EQ(stream.push(small().bytes(3 + 0xf0)), "");
  EXPECT_EQ(stream.flush(), "\xef\xbf\xbd");
}

TEST(Spm, BosExactlyOnceOrNever) {
  NYB_NEED_DATA();
  Conversation c(small(), nullptr, 512);
  EXPECT_EQ(c.ask("").ids, Ids{1});
  EXPECT_EQ(c.ask("Once upon").ids, (Ids{1, 403, 407}));
  EXPECT_EQ(c.ask("Once").ids, (Ids{1, 403}));
  Ids typed = small().encode("<s>");
  typed.insert(typed.begin(), 1);
  EXPECT_EQ(c.ask("<s>").ids, typed);
  Meta m;
  tok_import_llama2c(tok512().string(), 512, m);
  Meta without;
  for (const auto& [k, e] : m.entries())
    if (k != key::tok_bos) without.set(k, e.value, e.required);
  const auto none = Tokenizer::from_meta(without);
  EXPECT_FALSE(none->bos());
  EXPECT_FALSE(none->add_bos());
  EXPECT_EQ(Conversation(*none, nullptr, 512).ask("Once").ids, Ids{403});
}

// Long runs: in linear time, on a small stack, and still the reference's ids (whose time is quadratic).
TEST(Spm, LinearTimeAndConstantStack) {
  NYB_NEED_DATA();
  constexpr size_t mb = size_t{1} << 20;
  (void)small();
  (void)phi3();
  on_small_stack([] {
    for (const Tokenizer* tok : {&small(), &phi3()}) {
      expect_fast(*tok, std::string(50000, 'a'), 50001, "50,000 letters");
      expect_fast(*tok, std::string(26000, ' '), 26001, "26,000 spaces");
      for (const char c : std::string("xa 7\n!\xff\0", 8)) expect_fast(*tok, std::string(mb, c), mb + 1, "a megabyte of one byte");
      std::string spread, mixed;
      while (spread.size() < mb) spread += "Once upon\u00e9 a time, 'S\xff 1";
      while (mixed.size() < mb) mixed += " \n\u4e16\U0001f600";
      expect_fast(*tok, spread, mb, "a megabyte of words");
      expect_fast(*tok, mixed, 2 * mb, "a megabyte of line ends and other letters");
    }
  });
  for (const std::string& s : {std::string(50000, 'a'), std::string(26000, ' '), std::string(20000, '=')})
    EXPECT_EQ(phi3().encode(s), phi3_raw().sentencepiece(s)) << s[0];
}

}  // namespace
}  // namespace nyb
