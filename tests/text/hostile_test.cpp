// hostile_test.cpp - texts and patterns made to take long or to fill the stack: time stays linear and the stack small.
#include <gtest/gtest.h>

#include "hostile.h"
#include "text/regex_import.h"
#include "text/tokenizer.h"
#include "text_support.h"

namespace nyb {
namespace {
using namespace test;

// A vocabulary in which runs of one character merge ten times over, so that hostile texts meet all of the machinery.
Meta doubling_meta(const std::string& pattern) {
  std::vector<std::array<uint32_t, 2>> merges;
  uint32_t next = 256;
  for (const unsigned char c : std::string("ax7 \n!\xff")) {
    uint32_t last = c;
    for (int i = 0; i < 10; ++i) {
      merges.push_back({last, last});
      last = next++;
    }
  }
  Meta meta;
  tok_import_hf(folder_with(made_up_bpe(merges), nlohmann::json::object()).string(), next, meta);
  if (!pattern.empty()) meta.set(key::tok_pattern, pattern, true);
  return meta;
}

TEST(Hostile, LinearTimeAndConstantStack) {
  constexpr size_t mb = size_t{1} << 20;
  const std::string gpt2 = regex_import(kGpt2Pattern, "here");
  const std::string llama3 = pocket_meta().get<std::string>("tok.pattern");
  // With PCRE2's machine code and without, as where a system forbids it.
  for (const std::string& pattern : {gpt2, llama3, "(*NO_JIT)" + gpt2, "(*NO_JIT)" + llama3}) {
    on_small_stack([&] {
      const auto tok = Tokenizer::from_meta(doubling_meta(pattern));
      expect_fast(*tok, std::string(50000, 'a'), 60, "50,000 letters");
      expect_fast(*tok, std::string(mb, 'x'), 1100, "a megabyte without a space");
      expect_fast(*tok, std::string(26000, ' '), 40, "26,000 spaces");
      expect_fast(*tok, std::string(mb, ' ') + "x", 1100, "a megabyte of spaces and a letter");
      expect_fast(*tok, std::string(mb, '7'), mb, "a megabyte of digits");
      expect_fast(*tok, std::string(mb, '\n'), 1100, "a megabyte of line ends");
      expect_fast(*tok, std::string(mb, '!'), 1100, "a megabyte of marks");
      expect_fast(*tok, std::string(mb, '\xff'), mb, "a megabyte that is not UTF-8");
      expect_fast(*tok, std::string(mb, '\0'), mb, "a megabyte of NUL");
      std::string mixed, spread;
      while (mixed.size() < mb) mixed += "\n \t";
      while (spread.size() < mb) spread += "a\u0301 'S\xff 1";
      expect_fast(*tok, mixed, mixed.size(), "a megabyte of mixed white space");
      expect_fast(*tok, spread, spread.size(), "a megabyte of short words");
    });
  }
}

TEST(Hostile, SpecialsInALongText) {
  std::string text;
  while (text.size() < (size_t{1} << 20)) text += "<|<|end|";
  const double start = spent();
  const Ids ids = pocket().encode_with_specials(text);
  EXPECT_LT(spent() - start, kMostSeconds);
  EXPECT_TRUE(pocket().decode(ids) == text);
}

// What needs more stack than machine code has is matched without it.
TEST(Hostile, AMatchThatFillsTheMatchersStack) {
  const auto tok = Tokenizer::from_meta(doubling_meta("(?:a|x)+"));
  const std::string text(200000, 'a');
  EXPECT_TRUE(tok->decode(tok->encode(text)) == text);
}

// A pattern that takes exponential time is stopped, not waited for.
TEST(Hostile, PatternThatBlowsUp) {
  for (const char* jit : {"", "(*NO_JIT)"}) {
    const auto tok = Tokenizer::from_meta(doubling_meta(std::string(jit) + "(a+)+b|(?:a|aa)+c"));
    const double start = spent();
    const std::string error = error_of([&] { (void)tok->encode(std::string(5000, 'a')); });
    EXPECT_NE(error.find("pattern does not get through the text"), std::string::npos) << error;
    EXPECT_LT(spent() - start, 5 * kMostSeconds);
  }
  // \K moves the start of a match; what is before it is a word then.
  const auto tok = Tokenizer::from_meta(doubling_meta("ab\\Kc|b\\K"));
  EXPECT_EQ(tok->decode(tok->encode("xabcxb")), "xabcxb");
}

}  // namespace
}  // namespace nyb
