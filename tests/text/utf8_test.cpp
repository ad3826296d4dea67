#include "text/utf8.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "text_support.h"

namespace nyb {
namespace {

const std::string kFffd = "\xEF\xBF\xBD";

// Another way to know what may follow what: the beginnings of the encodings of all 1,112,064 scalar values, as sets.
class Beginnings {
 public:
  Beginnings() : one_(1 << 8), two_(1 << 16), three_(1 << 24) {
    for (char32_t c = 0x80; c < 0x110000; ++c) {
      if (c >= 0xd800 && c < 0xe000) continue;
      const std::string s = test::utf8(c);
      one_[key(s, 1)] = true;
      if (s.size() > 2) two_[key(s, 2)] = true;
      if (s.size() > 3) three_[key(s, 3)] = true;
      if (s.size() == 2) whole2_.resize(1 << 16), whole2_[key(s, 2)] = true;
      if (s.size() == 3) whole3_.resize(1 << 24), whole3_[key(s, 3)] = true;
    }
  }

  // How many bytes stand at the beginning of `s`: of a character (whole) or of the longest beginning of one, at least 1.
  size_t part(std::string_view s, bool& whole) const {
    whole = true;
    if (static_cast<unsigned char>(s[0]) < 0x80) return 1;
    if (s.size() >= 2 && whole2_[key(s, 2)]) return 2;
    if (s.size() >= 3 && whole3_[key(s, 3)]) return 3;
    if (s.size() >= 4 && three_[key(s, 3)] && (static_cast<unsigned char>(s[3]) & 0xc0) == 0x80) return 4;
    whole = false;
    if (s.size() >= 3 && three_[key(s, 3)]) return 3;
    if (s.size() >= 2 && two_[key(s, 2)]) return 2;
    return 1;
  }

  bool begins(std::string_view s) const {
    return (s.size() == 1 && one_[key(s, 1)]) || (s.size() == 2 && two_[key(s, 2)]) || (s.size() == 3 && three_[key(s, 3)]);
  }

  std::string repaired(std::string_view s) const {
    std::string out;
    while (!s.empty()) {
      bool whole = false;
      const size_t n = part(s, whole);
      out += whole ? std::string(s.substr(0, n)) : kFffd;
      s.remove_prefix(n);
    }
    return out;
  }

 private:
  static size_t key(std::string_view s, size_t n) {
    size_t k = 0;
    for (size_t i = 0; i < n; ++i) k = k << 8 | static_cast<unsigned char>(s[i]);
    return k;
  }
  std::vector<bool> one_, two_, three_, whole2_, whole3_;
};

const Beginnings& beginnings() {
  static const Beginnings b;
  return b;
}

std::string streamed(std::string_view s, size_t cut) {
  Utf8Stream stream;
  std::string out = stream.push(s.substr(0, cut));
  out += stream.push(s.substr(cut));
  return out + stream.flush();
}

std::string repeat(size_t n) {
  std::string out;
  while (n--) out += kFffd;
  return out;
}

TEST(Utf8, TheStandardsExamples) {
  // Tables 3-8 to 3-11: over-long forms, surrogates, other ill-formed sequences, truncated ones.
  const std::pair<std::string, std::string> rows[] = {
      {"\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41", repeat(8) + "A"},
      {"\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41", repeat(8) + "A"},
      {"\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42", repeat(5) + "A" + repeat(2) + "B"},
      {"\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41", repeat(4) + "A"},
  };
  for (const auto& [in, out] : rows) {
    EXPECT_EQ(beginnings().repaired(in), out);
    for (size_t cut = 0; cut <= in.size(); ++cut) EXPECT_EQ(streamed(in, cut), out) << "cut at " << cut;
  }
}

TEST(Utf8, EveryScalarValueIsWhole) {
  for (char32_t c = 0; c < 0x110000; ++c) {
    const std::string s = test::utf8(c);
    const bool surrogate = c >= 0xd800 && c < 0xe000;
    ASSERT_EQ(utf8_valid(s), !surrogate) << std::hex << static_cast<uint32_t>(c);
    if (!surrogate) {
      Utf8Stream stream;
      std::string out;
      for (size_t i = 0; i < s.size(); ++i) {
        const std::string got = stream.push(s.substr(i, 1));
        ASSERT_EQ(got.empty(), i + 1 < s.size());  // held back until whole, and then no longer
        out += got;
      }
      ASSERT_EQ(out, s);
      ASSERT_EQ(stream.flush(), "");
    }
  }
}

// All sequences of four bytes at the edges of table 3-7, cut at every place, against the sets.
TEST(Utf8, EverySequenceAtTheEdges) {
  constexpr unsigned char edge[] = {0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf,
                                    0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff};
  constexpr size_t n = std::size(edge);
  for (size_t i = 0; i < n * n * n * n; ++i) {
    const std::string s = {static_cast<char>(edge[i % n]), static_cast<char>(edge[i / n % n]),
                           static_cast<char>(edge[i / n / n % n]), static_cast<char>(edge[i / n / n / n])};
    const std::string want = beginnings().repaired(s);
    ASSERT_EQ(streamed(s, i % 5), want) << ::testing::PrintToString(s) << " cut at " << i % 5;
    ASSERT_EQ(utf8_valid(s), want == s);
  }
}

TEST(Utf8, SequencesOfCharactersCutAnywhere) {
  const std::string texts[] = {"a\U0001f600b", "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466",
                               "\U0001f1e9\U0001f1ea e\u0301 \u4e16\u754c", "\xF0\x9F\x98\xF0\x9F\x98\x80\xE4\xB8",
                               std::string("\0\xff\0", 3)};
  for (const std::string& s : texts) {
    const std::string want = beginnings().repaired(s);
    for (size_t a = 0; a <= s.size(); ++a) {
      for (size_t b = a; b <= s.size(); ++b) {
        Utf8Stream stream;
        std::string out = stream.push(s.substr(0, a));
        out += stream.push(s.substr(a, b - a));
        EXPECT_TRUE(utf8_valid(out));
        out += stream.push(s.substr(b));
        EXPECT_EQ(out + stream.flush(), want) << "cut at " << a << " and " << b;
      }
    }
  }
}

TEST(Utf8, OnlyABeginningIsHeldBack) {
  test::Random rng(7);
  for (int round = 0; round < 20000; ++round) {
    Utf8Stream stream;
    std::string in, out;
    for (int i = 0; i < 6; ++i) {
      in += static_cast<char>(rng.below(3) == 0 ? rng.next() : 0x80 + rng.below(0x80));
      out += stream.push(in.substr(in.size() - 1));
      // What came out, and then the longest beginning of a character that the input ends in, is all of it.
      size_t held = 0;
      for (size_t n = 1; n <= 3 && n <= in.size(); ++n) {
        const std::string_view tail = std::string_view(in).substr(in.size() - n);
        if (beginnings().begins(tail) &&
            beginnings().repaired(in).size() == beginnings().repaired(in.substr(0, in.size() - n)).size() + 3)
          held = n;
      }
      ASSERT_EQ(out, beginnings().repaired(in.substr(0, in.size() - held))) << ::testing::PrintToString(in);
    }
    ASSERT_EQ(out + stream.flush(), beginnings().repaired(in));
    ASSERT_EQ(stream.flush(), "");  // once only
  }
}

TEST(Utf8, PrefixAndIllFormedPart) {
  EXPECT_EQ(utf8_valid_prefix(""), 0u);
  EXPECT_EQ(utf8_valid_prefix("ab\xC3\xA9\xFFx"), 4u);
  EXPECT_EQ(utf8_ill_formed("\xF0\x9F\x98"), 3u);
  EXPECT_EQ(utf8_ill_formed("\xF0\x9F\x98\x41"), 3u);
  EXPECT_EQ(utf8_ill_formed("\xED\xA0\x80"), 1u);
  EXPECT_TRUE(utf8_is_beginning("\xF0\x9F\x98"));
  EXPECT_FALSE(utf8_is_beginning("\xF0\x9F\x98\x80"));
  EXPECT_FALSE(utf8_is_beginning("\x80"));
  EXPECT_FALSE(utf8_is_beginning("a"));
  EXPECT_FALSE(utf8_is_beginning(""));
}

}  // namespace
}  // namespace nyb
