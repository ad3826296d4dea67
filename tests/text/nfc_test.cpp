#include "text/nfc.h"

#include <gtest/gtest.h>
#include <utf8proc.h>

#include "hostile.h"
#include "text_support.h"

namespace nyb {
namespace {
using namespace test;

// Examples of Unicode Standard Annex 15 and of its list of exclusions.
TEST(Nfc, KnownForms) {
  const std::pair<const char*, const char*> rows[] = {
      {"", ""},
      {"plain \u00e9\u02ff", "plain \u00e9\u02ff"},
      {"e\u0301", "\u00e9"},
      {"caf\u00c3e\u0301e", "caf\u00c3\u00e9e"},
      {"\u212b\u2126\u212a", "\u00c5\u03a9K"},
      {"D\u0307\u0323", "\u1e0c\u0307"},
      {"\u1e9b\u0323", "\u1e9b\u0323"},
      {"a\u0301\u0323", "\u1ea1\u0301"},
      {"\u0301a", "\u0301a"},
      {"\u1112\u1161\u11ab\u1100\u1173\u11af", "\ud55c\uae00"},
      {"\ud558\u11ab", "\ud55c"},
      {"\u0958", "\u0915\u093c"},
      {"\u0344", "\u0308\u0301"},
      {"\ufb01\u2460", "\ufb01\u2460"},
      {"\U0001d15e", "\U0001d157\U0001d165"},
      {"\u2000x", "\u2002x"},
  };
  for (const auto& [text, want] : rows) {
    EXPECT_EQ(nfc(text), want) << text;
    EXPECT_EQ(nfc(want), want) << text;
  }
}

TEST(Nfc, BytesThatAreNoUtf8StayAndPart) {
  EXPECT_EQ(nfc("e\xff\u0301"), "e\xff\u0301");
  EXPECT_EQ(nfc("\xff"
                "e\u0301\xcc"),
            "\xff\u00e9\xcc");
  EXPECT_EQ(nfc(std::string("e\0\u0301", 4)), std::string("e\0\u0301", 4));
}

// The library's own normalization, whose time is quadratic, on every character between two others and on fuzz.
TEST(Nfc, EqualsTheLibrarys) {
  const auto library = [](const std::string& s) {
    utf8proc_uint8_t* made = nullptr;
    const auto n = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(s.data()), static_cast<utf8proc_ssize_t>(s.size()), &made,
                                static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
    const std::string out(reinterpret_cast<const char*>(made), static_cast<size_t>(std::max<utf8proc_ssize_t>(n, 0)));
    std::free(made);
    return out;
  };
  for (char32_t c = 0; c < 0x110000; ++c) {
    if (c >= 0xd800 && c < 0xe000) continue;
    const std::string s = "a" + utf8(c) + "\u0323\u0301b";
    ASSERT_EQ(nfc(s), library(s)) << std::hex << static_cast<uint32_t>(c);
  }
  Random rng(15);
  for (int i = 0; i < 3000; ++i) {
    std::string s = fuzz_text(rng);
    for (size_t k = rng.below(20); k > 0; --k) s += utf8(0x2f0 + static_cast<char32_t>(rng.below(0x80)));
    ASSERT_EQ(nfc(s), library(s)) << ::testing::PrintToString(s);
  }
}

TEST(Nfc, LinearTimeAndConstantStack) {
  on_small_stack([] {
    for (const char* unit : {"\u0301\u0323", "e\u0301", "\u1112\u1161\u11ab", "\u0958", "a", "\xff\u0301"}) {
      std::string text;
      while (text.size() < (size_t{1} << 20)) text += unit;
      const double start = spent();
      EXPECT_GT(nfc(text).size(), size_t{1} << 18);
      EXPECT_LT(spent() - start, kMostSeconds) << unit;
    }
  });
}

}  // namespace
}  // namespace nyb
