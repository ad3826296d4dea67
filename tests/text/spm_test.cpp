// The tokenizer of SentencePiece: against llama.cpp's ids, against oracles of the tests' own, and what a model file may say of it.
#include <gtest/gtest.h>

#include <limits>

#include "gguf_vocab.h"
#include "hostile.h"
#include "spm_oracle.h"
#include "text/conversation.h"
#include "text/utf8.h"

namespace nyb {
namespace {
using namespace test;

using U = std::vector<uint32_t>;
using Strings = std::vector<std::string>;

std::filesystem::path tok512() { return data_dir() / "stories260K" / "tok512.bin"; }
std::filesystem::path phi3_file() { return data_dir() / "vocab" / "ggml-vocab-phi-3.gguf"; }

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
  static const SpmOracle v(gguf_vocab(phi3_file()));
  return v;
}

const Tokenizer& phi3() {
  static const auto tok = [] {
    U specials = {2};
    for (size_t i = 0; i < phi3_raw().vocab().types.size(); ++i)
      if (phi3_raw().vocab().types[i] == 3) specials.push_back(static_cast<uint32_t>(i));
    Meta m = spm_meta(phi3_raw().vocab(), specials);
    m.set(key::tok_bos, uint64_t{1});
    m.set(key::tok_ends, U{32000, 32007});
    return Tokenizer::from_meta(m);
  }();
  return *tok;
}

Strings all_texts() {
  Strings all;
  for (const char* name : {"gpt-2", "qwen2", "phi-3"}) {
    const Strings some = vocab_texts(data_dir() / "vocab" / (std::string("ggml-vocab-") + name + ".gguf"));
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
  const Strings texts = vocab_texts(phi3_file());
  const std::vector<Ids> ids = vocab_ids(phi3_file());
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
  Strings all = {"\xF0\x9F\x98",
                 "\x80",
                 "\x80\x80\x80",
                 "\xC0\xAF",
                 "\xED\xA0\x80",
                 "\xFF\xFE",
                 "a\xFF b",
                 std::string("\0\0\0", 3),
                 "Hello\xE4\xB8 world",
                 "\xF8\x88\x80\x80\x80",
                 std::string("\xC3\0\xA9", 3),
                 "\xe2\x96\x81",
                 "a\xe2\x96\x81 b",
                 "\xe2\x96"};
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
  EXPECT_EQ(phi3().encode_framed("<|user|>", typed + "x", "<|end|>"), want);
  // Plain text that meets at a seam is one, with one blank before it.
  EXPECT_EQ(phi3().encode_framed("<|user|>Hel", "lo", "<|end|>"), phi3().encode_with_specials("<|user|>Hello<|end|>"));
  EXPECT_EQ(phi3().decode(phi3().encode_with_specials("<|user|>Hello<|end|> x")), "Hello x");
  EXPECT_EQ(phi3().encode_framed("<|user|>", "", "<|end|>"), (Ids{32010, 32007}));
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

// A small vocabulary: 256 bytes from id 3 on, then `pieces` with these scores.
struct Piece {
  std::string text;
  double score;
  uint32_t type = 1;
};
Meta made_up(const std::vector<Piece>& pieces) {
  Strings tokens = {"<unk>", "<s>", "</s>"};
  U types = {2, 3, 3};
  for (int b = 0; b < 256; ++b) {
    tokens.emplace_back(1, static_cast<char>(b));
    types.push_back(6);
  }
  std::vector<double> scores(tokens.size(), 0);
  for (const Piece& p : pieces) {
    tokens.push_back(p.text);
    scores.push_back(p.score);
    types.push_back(p.type);
  }
  Meta m;
  m.set(key::tok_kind, std::string("spm"));
  m.set(key::tok_tokens, tokens);
  m.set(key::tok_scores, scores);
  m.set(key::tok_types, types);
  m.set(key::tok_add_prefix, uint64_t{0});
  m.set(key::tok_byte_fallback, uint64_t{1});
  m.set(key::tok_unknown, uint64_t{0});
  m.set(key::tok_specials, U{0, 1, 2});
  return m;
}

TEST(Spm, MergesOfOneScoreGoFromTheLeft) {
  const auto t = Tokenizer::from_meta(made_up({{"a", -9}, {"b", -9}, {"ab", -1}, {"ba", -1}, {"aba", 0}}));
  EXPECT_EQ(t->encode("ba"), Ids{262});
  EXPECT_EQ(t->encode("bab"), (Ids{262, 260}));   // ba first, though ab has the same score
  EXPECT_EQ(t->encode("abab"), (Ids{263, 260}));  // ab, then aba before the second ab
  // and the score alone decides otherwise
  const auto u = Tokenizer::from_meta(made_up({{"a", -9}, {"b", -9}, {"ab", -1}, {"ba", -2}}));
  EXPECT_EQ(u->encode("bab"), (Ids{260, 261}));
}

// Characters merge whether or not they are pieces themselves, and characters only.
TEST(Spm, PartsThatAreNoPieces) {
  const auto t = Tokenizer::from_meta(made_up({{"\u00e9x", -1}, {"\xa9", -1}}));
  EXPECT_EQ(t->encode("\u00e9x"), Ids{259});
  EXPECT_EQ(t->encode("\u00e9y"), (Ids{3 + 0xc3, 3 + 0xa9, 3 + 'y'}));
}

TEST(Spm, TokensTakenWhole) {
  const auto t =
      Tokenizer::from_meta(made_up({{"a", -9}, {"b", -9}, {"ab", -1}, {"<tool>", 0, 4}, {"<tool>b", 0, 4}, {"\n\n", 0, 4}}));
  EXPECT_EQ(t->encode("ab<tool>ab"), (Ids{261, 262, 261}));
  EXPECT_EQ(t->encode("a<tool>bb"), (Ids{259, 263, 260}));  // the longest
  EXPECT_EQ(t->encode("\n\n\n"), (Ids{264, 3 + '\n'}));
  EXPECT_EQ(t->decode(t->encode("ab<tool>ab")), "ab<tool>ab");
  // as a special it is text
  Meta m = made_up({{"a", -9}, {"<tool>", 0, 4}});
  m.set(key::tok_specials, U{0, 1, 2, 260});
  const auto u = Tokenizer::from_meta(m);
  EXPECT_EQ(u->encode("<tool>").size(), 6u);
  EXPECT_EQ(u->encode_with_specials("a<tool>"), (Ids{259, 260}));
}

TEST(Spm, TypesThatTextNeverBecomes) {
  const auto t = Tokenizer::from_meta(made_up({{"a", -9}, {"ab", -1, 5}, {"abc", 0, 3}, {"aa", 0, 2}, {"", 0}, {"", 0}}));
  EXPECT_EQ(t->encode("abc"), (Ids{259, 3 + 'b', 3 + 'c'}));
  EXPECT_EQ(t->encode("aa"), (Ids{259, 259}));
  EXPECT_EQ(t->decode({260}), "ab");
}

TEST(Spm, WithoutBytesTextMayBeUnknown) {
  Meta m = made_up({{"a", -9}, {" ", -9}, {" a", -1}});
  m.set(key::tok_byte_fallback, uint64_t{0});
  m.set(key::tok_add_prefix, uint64_t{1});
  m.set(key::tok_types, [&] {
    U types = m.get<U>(key::tok_types);
    for (uint32_t& t : types) t = t == 6 ? 5 : t;
    return types;
  }());
  const auto t = Tokenizer::from_meta(m);
  EXPECT_EQ(t->encode("axy a\u4e16"), (Ids{261, 0, 261, 0}));
  EXPECT_EQ(t->decode({261, 0, 261}), "a a");
}

TEST(Spm, WithoutAPrefix) {
  const auto t = Tokenizer::from_meta(made_up({{" ", -9}, {"a", -9}, {" a", -1}}));
  EXPECT_EQ(t->encode("a"), Ids{260});
  EXPECT_EQ(t->decode(t->encode(" a")), " a");
  EXPECT_EQ(t->bytes_after(1, 261), " a");
}

// What a model file may hold and no tokenizer can be made of: one sentence that names the key.
TEST(Spm, RefusesAModelFileThatIsWrong) {
  const std::vector<Piece> pieces = {{" ", -9}, {"a", -9}};
  const auto refused = [&](const char* key, const MetaValue& value) {
    Meta m = made_up(pieces);
    m.set(key, value);
    return error_of([&] { Tokenizer::from_meta(m); });
  };
  const auto without = [&](const char* key) {
    const Meta m = made_up(pieces);
    Meta less;
    for (const auto& [k, e] : m.entries())
      if (k != key) less.set(k, e.value, e.required);
    return error_of([&] { Tokenizer::from_meta(less); });
  };
  const auto with = [&](const std::vector<Piece>& more) { return error_of([&] { Tokenizer::from_meta(made_up(more)); }); };
  const auto holds = [](const std::string& s, std::initializer_list<const char*> parts) {
    for (const char* p : parts) EXPECT_NE(s.find(p), std::string::npos) << s << " lacks " << p;
    EXPECT_EQ(s.find('\n'), std::string::npos);
  };
  EXPECT_NE(Tokenizer::from_meta(made_up(pieces)), nullptr);
  for (const char* key : {key::tok_tokens, key::tok_scores, key::tok_types, key::tok_specials}) holds(without(key), {key});
  holds(refused(key::tok_scores, std::vector<double>(260, 0)), {"tok.scores", "260", "261"});
  holds(refused(key::tok_scores, std::vector<double>{}), {"tok.scores", "0 numbers", "261"});
  holds(refused(key::tok_types, U(262, 1)), {"tok.types", "262", "261"});
  holds(refused(key::tok_types, U(261, 7)), {"tok.types", "token 0", "type 7"});
  holds(refused(key::tok_types, U(261, 0)), {"tok.types", "type 0"});
  holds(refused(key::tok_types, U(261, 5)), {"tok.tokens", "0x00"});
  holds(refused(key::tok_types, U(261, 6)), {"tok.tokens", "259", "same byte"});
  holds(refused(key::tok_tokens, Strings{}), {"tok.specials"});
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                           -std::numeric_limits<double>::infinity()})
    holds(with({{" ", bad}}), {"tok.scores", "token 259", "not a finite number"});
  holds(with({{"a", 0}, {"b", 1}, {"a", 2}}), {"tok.tokens", "259 and 261", "same text"});
  holds(with({{"a", 0}, {"a", 0, 4}}), {"tok.tokens", "same text"});
  holds(with({{"ab", 0, 6}}), {"tok.tokens", "2 bytes for token 259"});
  holds(with({{"", 0, 6}}), {"tok.tokens", "0 bytes for token 259"});
  holds(with({{"A", 0, 6}}), {"tok.tokens", "68 and 259", "same byte"});
  holds(refused(key::tok_specials, U{68}), {"tok.tokens", "0x41"});
  holds(refused(key::tok_unknown, uint64_t{261}), {"tok.unknown", "261"});
  holds(refused(key::tok_byte_fallback, uint64_t{2}), {"tok.byte_fallback", "2"});
  holds(refused(key::tok_add_prefix, uint64_t{2}), {"tok.add_prefix", "2"});
  holds(refused(key::tok_bos, uint64_t{300}), {"tok.bos", "300"});
  Meta m = made_up({{"a", 0}});
  m.set(key::tok_add_prefix, uint64_t{1});
  holds(error_of([&] { Tokenizer::from_meta(m); }), {"tok.add_prefix", "blank"});
  Meta lost;
  const Meta all = made_up(pieces);
  for (const auto& [k, e] : all.entries())
    if (k != key::tok_unknown && k != key::tok_byte_fallback) lost.set(k, e.value);
  holds(error_of([&] { Tokenizer::from_meta(lost); }), {"tok.byte_fallback"});
}

}  // namespace
}  // namespace nyb
