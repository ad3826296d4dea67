// The rules of SentencePiece's tokenizer on small vocabularies, and what a model file may say of it.
#include <gtest/gtest.h>

#include <limits>

#include "text_support.h"

namespace nyb {
namespace {
using namespace test;

using U = std::vector<uint32_t>;
using Strings = std::vector<std::string>;

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

TEST(SpmRules, MergesOfOneScoreGoFromTheLeft) {
  const auto t = Tokenizer::from_meta(made_up({{"a", -9}, {"b", -9}, {"ab", -1}, {"ba", -1}, {"aba", 0}}));
  EXPECT_EQ(t->encode("ba"), Ids{262});
  EXPECT_EQ(t->encode("bab"), (Ids{262, 260}));   // ba first, though ab has the same score
  EXPECT_EQ(t->encode("abab"), (Ids{263, 260}));  // ab, then aba before the second ab
  // and the score alone decides otherwise
  const auto u = Tokenizer::from_meta(made_up({{"a", -9}, {"b", -9}, {"ab", -1}, {"ba", -2}}));
  EXPECT_EQ(u->encode("bab"), (Ids{260, 261}));
}

// Characters merge whether or not they are pieces themselves, and characters only.
TEST(SpmRules, PartsThatAreNoPieces) {
  const auto t = Tokenizer::from_meta(made_up({{"\u00e9x", -1}, {"\xa9", -1}}));
  EXPECT_EQ(t->encode("\u00e9x"), Ids{259});
  EXPECT_EQ(t->encode("\u00e9y"), (Ids{3 + 0xc3, 3 + 0xa9, 3 + 'y'}));
  // of what is no character each byte is a part
  EXPECT_EQ(t->encode("\xe1\xa9"), (Ids{3 + 0xe1, 260}));
}

TEST(SpmRules, TokensTakenWhole) {
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

TEST(SpmRules, TypesThatTextNeverBecomes) {
  const auto t = Tokenizer::from_meta(made_up({{"a", -9}, {"ab", -1, 5}, {"abc", 0, 3}, {"aa", 0, 2}, {"", 0}, {"", 0}}));
  EXPECT_EQ(t->encode("abc"), (Ids{259, 3 + 'b', 3 + 'c'}));
  EXPECT_EQ(t->encode("aa"), (Ids{259, 259}));
  EXPECT_EQ(t->decode({260}), "ab");
}

TEST(SpmRules, WithoutBytesTextMayBeUnknown) {
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

TEST(SpmRules, WithoutAPrefix) {
  const auto t = Tokenizer::from_meta(made_up({{" ", -9}, {"a", -9}, {" a", -1}}));
  EXPECT_EQ(t->encode("a"), Ids{260});
  EXPECT_EQ(t->decode(t->encode(" a")), " a");
  EXPECT_EQ(t->bytes_after(1, 261), " a");
}

// What a model file may hold and no tokenizer can be made of: one sentence that names the key.
TEST(SpmRules, RefusesAModelFileThatIsWrong) {
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
  holds(refused(key::tok_add_prefix, uint64_t{4}), {"tok.add_prefix", "4"});
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
