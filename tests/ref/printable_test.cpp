// printable_test.cpp - text of unknown origin that a terminal shows and does not obey.
#include "kern/printable.h"
#include <gtest/gtest.h>
#include <string>
#include "support/text.h"

namespace nyb::test {
namespace {

std::string escaped(const std::string& bytes) {
  constexpr char digits[] = "0123456789abcdef";
  std::string out;
  for (const char b : bytes) {
    const auto u = static_cast<unsigned char>(b);
    out += "\\x";
    out += digits[u / 16];
    out += digits[u % 16];
  }
  return out;
}

bool harmful(uint32_t c) {
  if (c < 32 || c == 127) return true;
  if (c >= 0x80 && c <= 0x9f) return true;  // C1: 9b begins what ESC [ begins
  switch (c) {
    case 0x200e:
    case 0x200f:  // left-to-right and right-to-left mark
    case 0x2028:
    case 0x2029:  // line and paragraph separator
    case 0x202a:
    case 0x202b:
    case 0x202c:
    case 0x202d:
    case 0x202e:  // embeddings and overrides
    case 0x2066:
    case 0x2067:
    case 0x2068:
    case 0x2069: return true;  // isolates
    default: return false;
  }
}

TEST(Printable, EveryCharacterStaysOrIsEscaped) {
  for (uint32_t c = 0; c <= 0x10ffff; ++c) {
    if (c >= 0xd800 && c < 0xe000) continue;
    const std::string text = utf8(c);
    const std::string want = c == '\n' ? "\\n" : c == '\t' ? "\\t" : harmful(c) ? escaped(text) : text;
    ASSERT_EQ(printable(text), want) << std::hex << c;
  }
}

TEST(Printable, WhatIsNotUtf8IsEscapedByteByByte) {
  for (const std::string bytes :
       {"\x80", "\xbf", "\xc3", "\xe2\x82", "\xf0\x9f\x98", "\xff", "\xfe", "\xf8\x88\x80\x80\x80",  // cut
        "\xc0\x80", "\xc1\xbf", "\xe0\x80\x80", "\xe0\x9f\xbf", "\xf0\x80\x80\x80",                  // too long
        "\xed\xa0\x80", "\xed\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80"})                     // surrogates, too great
    EXPECT_EQ(printable(bytes), escaped(bytes));
  EXPECT_EQ(printable("\xc3(\xc3\xa9"), "\\xc3(\xc3\xa9") << "what follows a broken byte is read anew";
  EXPECT_EQ(printable("a\xe2\x82z"), "a\\xe2\\x82z");
}

TEST(Printable, OneLineThatASecondTimeLeavesAlone) {
  EXPECT_EQ(printable(""), "");
  EXPECT_EQ(printable(std::string("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(printable("a\nb\tc\r\x1b]0;title\x07\xc2\x9b"
                      "31mred"),
            "a\\nb\\tc\\x0d\\x1b]0;title\\x07\\xc2\\x9b31mred");
  std::string all;
  for (uint32_t c = 0; c < 0x3000; ++c) all += utf8(c);
  for (int b = 0; b < 256; ++b) all += static_cast<char>(b);
  EXPECT_EQ(printable(printable(all)), printable(all));
}

}  // namespace
}  // namespace nyb::test
