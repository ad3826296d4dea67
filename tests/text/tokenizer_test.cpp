#include "text/tokenizer.h"

#include <gtest/gtest.h>

#include <thread>

#include "text/bpe.h"
#include "text/regex_import.h"
#include "text/splitter.h"
#include "text_support.h"

namespace nyb {
namespace {
using namespace test;

// As the reference implementation gives them.
TEST(Tokenizer, IdsOfFixedStrings) {
  const std::pair<std::string, Ids> rows[] = {
      {"", {}},
      {" ", {32}},
      {"  ", {32, 32}},
      {"   ", {32, 32, 32}},
      {"    ", {32, 32, 32, 32}},
      {"\t", {9}},
      {"\t\t", {9, 9}},
      {"Hello", {984}},
      {" Hello", {596, 938}},
      {"a\r\nb", {97, 13, 10, 98}},
      {"\r\n\r\n", {13, 10, 13, 10}},
      {"1", {49}},
      {"12", {49, 50}},
      {"123", {49, 50, 51}},
      {"1234", {49, 50, 51, 52}},
      {"123456789", {49, 50, 51, 52, 53, 54, 55, 56, 57}},
      {"it's IT'S we'll WE'LL I'd I'D", {282, 373, 295, 84, 39, 83, 366, 39, 271, 614, 69, 39, 76, 76, 295, 39, 100, 295, 39, 68}},
      {"don't you've they're I'm", {100, 268, 551, 289, 39, 294, 526, 1530, 295, 381}},
      {"\u00e9", {195, 169}},
      {"e\u0301", {101, 204, 129}},
      {"\u4e16\u754c", {228, 184, 150, 231, 149, 140}},
      {"\u05e9\u05dc\u05d5\u05dd", {215, 169, 215, 156, 215, 149, 215, 157}},
      {"\u0645\u0631\u062d\u0628\u0627", {217, 133, 216, 177, 216, 173, 216, 168, 216, 167}},
      {"\U0001f600", {240, 159, 152, 128}},
      {"<|end|><|assistant|>", {60, 124, 465, 124, 62, 60, 124, 371, 940, 124, 62}},
      {"What is int4?", {304, 267, 469, 52, 63}},
      {"a    b", {97, 32, 32, 32, 269}},
  };
  for (const auto& [text, ids] : rows) {
    EXPECT_EQ(pocket().encode(text), ids) << ::testing::PrintToString(text);
    EXPECT_EQ(pocket().decode(ids), text);
  }
}

TEST(Tokenizer, WhatPocketsFolderSays) {
  const Tokenizer& t = pocket();
  EXPECT_EQ(t.size(), kPocketVocab);
  EXPECT_EQ(t.bos(), 2043);
  EXPECT_TRUE(t.add_bos());
  EXPECT_EQ(t.ends(), Ids{2047});
  EXPECT_TRUE(t.is_end(2047));
  EXPECT_FALSE(t.is_end(2046));
  EXPECT_TRUE(t.is_special(2045));
  EXPECT_FALSE(t.is_special(2042));
  EXPECT_FALSE(t.is_special(-1));
  EXPECT_EQ(t.name(2044), "<|user|>");
  EXPECT_EQ(t.bytes(2044), "");
  EXPECT_EQ(t.bytes(984), "Hello");
  EXPECT_EQ(t.name(984), "Hello");
  EXPECT_EQ(t.bytes(2048), "");
  EXPECT_EQ(t.bytes(-5), "");
  EXPECT_EQ(t.decode({2043, 984, 9999, 2047}), "Hello");
}

TEST(Tokenizer, SpecialsOnlyWhereAsked) {
  const Tokenizer& t = pocket();
  const std::string text = "<|user|>hi<|end|><|assistant|><|bos|>";
  for (const int32_t id : t.encode(text)) EXPECT_FALSE(t.is_special(id)) << id;
  EXPECT_EQ(t.encode_with_specials("<|user|>hi<|end|>"), (Ids{2044, 338, 2047}));
  EXPECT_EQ(framed(t, "<|user|>", "<|end|>", "<|end|>").front(), 2044);
  const Ids within = framed(t, "<|user|>", "<|end|>hi", "<|end|>");
  Ids want = t.encode("<|end|>hi");
  want.insert(want.begin(), 2044);
  want.push_back(2047);
  EXPECT_EQ(within, want);
  // Text that meets at the seam is one: here "Hel" and "lo" make one token.
  EXPECT_EQ(framed(t, "<|user|>Hel", "lo", "<|end|>"), (Ids{2044, 984, 2047}));
  // A special is not made across a seam.
  for (const int32_t id : framed(t, "<|e", "nd|>", "")) EXPECT_FALSE(t.is_special(id)) << id;
}

TEST(Tokenizer, TheLongestSpecialWins) {
  nlohmann::json j = made_up_bpe({});
  j["added_tokens"] = {{{"id", 256}, {"content", "<|x|>"}, {"special", true}},
                       {{"id", 257}, {"content", "<|x|><|y|>"}, {"special", true}},
                       {{"id", 258}, {"content", "<|"}, {"special", true}},
                       {{"id", 259}, {"content", "<tool>"}, {"special", false}}};
  Meta meta;
  tok_import_hf(folder_with(j, nlohmann::json::object()).string(), 300, meta);
  const auto t = Tokenizer::from_meta(meta);
  EXPECT_EQ(t->encode_with_specials("<|x|><|y|><|x|><|z"), (Ids{257, 256, 258, 'z'}));
  // A token added by hand that is not special: templates may write it, text never becomes it, and it is printed.
  EXPECT_EQ(t->encode_with_specials("<tool>"), Ids{259});
  EXPECT_EQ(t->encode("<tool>").size(), 6u);
  EXPECT_EQ(t->decode({259}), "<tool>");
  EXPECT_EQ(t->size(), 300u);
  EXPECT_EQ(t->bytes(299), "");
}

TEST(Tokenizer, AnyBytesComeBack) {
  for (const std::string& s : odd_bytes()) {
    EXPECT_EQ(pocket().decode(pocket().encode(s)), s) << ::testing::PrintToString(s);
    EXPECT_EQ(pocket().decode(pocket().encode_with_specials(s)), s);
  }
  Random rng(5);
  for (int round = 0; round < 3000; ++round) {
    std::string s;
    const size_t n = rng.below(64);
    for (size_t i = 0; i < n; ++i) s += static_cast<char>(rng.below(2) ? rng.next() : "\xF0\x9F\x98\x80 a'\n"[rng.below(9)]);
    const Ids ids = pocket().encode(s);
    ASSERT_EQ(pocket().decode(ids), s) << ::testing::PrintToString(s);
    for (const int32_t id : ids) ASSERT_FALSE(pocket().is_special(id));
  }
}

// Bytes that are not UTF-8 are words of their own, and what is around them is cut as if it stood alone.
TEST(Tokenizer, IllFormedPartsAreWords) {
  const Splitter splitter(pocket_meta().get<std::string>("tok.pattern"));
  std::vector<std::string> words;
  splitter.split("Hi there \xF0\x9F\x98x\x80\xFF 12345  ", [&](std::string_view w) { words.emplace_back(w); });
  EXPECT_EQ(words, (std::vector<std::string>{"Hi", " there", " ", "\xF0\x9F\x98", "x", "\x80", "\xFF", " ", "123", "45", "  "}));
}

// Each word of a pattern, and what lies between two matches.
TEST(Tokenizer, GapsAreWords) {
  const Splitter splitter("b+");
  std::vector<std::string> words;
  splitter.split("aabbacb", [&](std::string_view w) { words.emplace_back(w); });
  EXPECT_EQ(words, (std::vector<std::string>{"aa", "bb", "ac", "b"}));
  words.clear();
  Splitter("b*").split("ab", [&](std::string_view w) { words.emplace_back(w); });
  EXPECT_EQ(words, (std::vector<std::string>{"a", "b"}));
  words.clear();
  // Classes are Unicode's, whatever the letters of the pattern are.
  Splitter("\\d+").split("x\u0663\u0664y", [&](std::string_view w) { words.emplace_back(w); });
  EXPECT_EQ(words, (std::vector<std::string>{"x", "\u0663\u0664", "y"}));
}

TEST(Tokenizer, WhiteSpaceIsUnicodes) {
  const std::string s = regex_import("\\s", "here");
  const Splitter splitter(regex_import("\\s|\\S+", "here"));
  for (char32_t c = 1; c < 0x3100; ++c) {
    if (c >= 0xd800 && c < 0xe000) continue;
    const bool space = (c >= 9 && c <= 13) || c == 32 || c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) ||
                       c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
    size_t words = 0;
    splitter.split(utf8(c) + utf8(c), [&](std::string_view) { ++words; });
    ASSERT_EQ(words, space ? 2u : 1u) << std::hex << static_cast<uint32_t>(c);
  }
}

// The heap and the loop for short words against the definition, on words of all lengths around the switch.
TEST(Bpe, EqualsTheDefinition) {
  Random rng(11);
  for (int round = 0; round < 60; ++round) {
    std::array<int32_t, 256> byte_ids{};
    for (int b = 0; b < 256; ++b) byte_ids[static_cast<size_t>(b)] = b;
    std::vector<uint32_t> merges, pool = {'a', 'b', 'c'};
    for (uint32_t made = 256; made < 256 + 60; ++made) {
      merges.insert(merges.end(), {pool[rng.below(pool.size())], pool[rng.below(pool.size())], made});
      pool.push_back(made);
    }
    const Bpe bpe(byte_ids, merges);
    for (size_t n = 0; n < 90; ++n) {
      std::string word;
      for (size_t i = 0; i < n; ++i)
        word +=
            "aab"
            "abc"[rng.below(6)];
      Ids got;
      bpe.encode(word, got);
      ASSERT_EQ(got, naive_bpe(word, byte_ids, merges)) << word;
    }
  }
}

// Threads may share a tokenizer.
TEST(Tokenizer, SharedByThreads) {
  Random rng(3);
  std::vector<std::string> texts;
  texts.reserve(50);
  for (int i = 0; i < 50; ++i) texts.push_back(fuzz_text(rng));
  std::vector<Ids> want;
  want.reserve(texts.size());
  for (const auto& t : texts) want.push_back(pocket().encode(t));
  std::vector<std::thread> threads;
  std::array<bool, 4> same{};
  for (size_t k = 0; k < same.size(); ++k) {
    threads.emplace_back([&, k] {
      same[k] = true;
      for (size_t i = 0; i < texts.size(); ++i) same[k] = same[k] && pocket().encode(texts[i]) == want[i];
    });
  }
  for (auto& t : threads) t.join();
  for (const bool s : same) EXPECT_TRUE(s);
}

// What a model file may hold and a tokenizer cannot be made of: one sentence that names the key.
TEST(Tokenizer, RefusesAModelFileThatIsWrong) {
  using U = std::vector<uint32_t>;
  EXPECT_EQ(Tokenizer::from_meta(Meta()), nullptr);
  const auto refused = [](auto&& change) {
    Meta m = pocket_meta();
    change(m);
    return error_of([&] { Tokenizer::from_meta(m); });
  };
  const auto tokens = pocket_meta().get<std::vector<std::string>>("tok.tokens");
  const auto holds = [](const std::string& s, std::initializer_list<const char*> parts) {
    for (const char* p : parts) EXPECT_NE(s.find(p), std::string::npos) << s << " lacks " << p;
  };
  holds(refused([](Meta& m) { m.set("tok.kind", std::string("unigram")); }), {"tok.kind", "unigram", "bpe"});
  holds(refused([](Meta& m) { m.set("tok.kind", uint64_t{1}); }), {"tok.kind"});
  holds(refused([](Meta& m) { m.set("tok.specials", U{5000}); }), {"tok.specials", "5000", "2048"});
  holds(refused([](Meta& m) { m.set("tok.bos", uint64_t{1} << 40); }), {"tok.bos", "1099511627776"});
  holds(refused([](Meta& m) { m.set("tok.add_bos", uint64_t{2}); }), {"tok.add_bos", "2"});
  holds(refused([](Meta& m) { m.set("tok.ends", U{2048}); }), {"tok.ends", "2048"});
  holds(refused([](Meta& m) { m.set("tok.merges", U{1, 2}); }), {"tok.merges", "three"});
  holds(refused([](Meta& m) { m.set("tok.merges", U{1, 2, 9999}); }), {"tok.merges", "9999"});
  holds(refused([](Meta& m) { m.set("tok.merges", U{1, 2, 300}); }), {"tok.merges", "300"});
  holds(refused([](Meta& m) { m.set("tok.pattern", std::string("(")); }), {"tok.pattern", "1"});
  holds(refused([](Meta& m) { m.set("tok.pattern", std::string("a\\Cb")); }), {"tok.pattern"});
  holds(refused([&](Meta& m) {
          auto t = tokens;
          t[65] = "";
          m.set("tok.tokens", t);
        }),
        {"tok.tokens", "0x41"});
  holds(refused([&](Meta& m) {
          auto s = m.get<U>("tok.specials");
          s.push_back(65);
          m.set("tok.specials", s);
        }),
        {"tok.tokens", "0x41"});
  holds(refused([&](Meta& m) {
          auto t = tokens;
          t[2044] = "";
          m.set("tok.tokens", t);
        }),
        {"tok.specials", "2044"});
  Meta no_pattern;
  for (const auto& [k, e] : pocket_meta().entries()) {
    if (k != "tok.pattern") no_pattern.set(k, e.value, e.required);
  }
  holds(error_of([&] { Tokenizer::from_meta(no_pattern); }), {"tok.pattern"});
}

// Two tokens with the same bytes, a merge that makes a special, a pair that merges twice: sensible, as the references have it.
TEST(Tokenizer, OddVocabularies) {
  using U = std::vector<uint32_t>;
  Meta m = pocket_meta();
  auto tokens = m.get<std::vector<std::string>>("tok.tokens");
  ASSERT_EQ(tokens[984], "Hello");
  tokens.push_back("A");
  m.set("tok.tokens", tokens);
  auto specials = m.get<U>("tok.specials");
  specials.push_back(984);
  m.set("tok.specials", specials);
  const auto t = Tokenizer::from_meta(m);
  EXPECT_EQ(t->encode("A"), Ids{65});
  const Ids hello = t->encode("Hello");
  EXPECT_EQ(t->decode(hello), "Hello");
  EXPECT_GT(hello.size(), 1u);
  // nor where it is said to be taken whole; and of two specials with one name the first is meant
  m.set("tok.whole", U{984});
  EXPECT_EQ(Tokenizer::from_meta(m)->encode("Hello"), hello);
  tokens.push_back("<|end|>");
  m.set("tok.tokens", tokens);
  specials.push_back(static_cast<uint32_t>(tokens.size() - 1));
  m.set("tok.specials", specials);
  EXPECT_EQ(Tokenizer::from_meta(m)->encode_with_specials("<|end|>"), Ids{2047});

  std::array<int32_t, 256> byte_ids{};
  for (int b = 0; b < 256; ++b) byte_ids[static_cast<size_t>(b)] = b;
  Ids out;
  Bpe(byte_ids, {'a', 'b', 256, 'b', 'c', 257, 'a', 'b', 258}).encode("abc", out);
  EXPECT_EQ(out, (Ids{'a', 257}));  // the pair a b has its later, worse rank
}

}  // namespace
}  // namespace nyb
