// stop_match_test.cpp - where a stream ends by a stop text, and what is shown of it.
#include "text/stop_match.h"
#include <gtest/gtest.h>
#include <random>

namespace nyb {
namespace {

struct Outcome {
  std::string shown, match;
  bool operator==(const Outcome&) const = default;
};

Outcome feed(const std::vector<std::string>& stops, const std::vector<std::string>& pieces) {
  StopMatch m(stops);
  Outcome o;
  for (const std::string& p : pieces) o.shown += m.push(p);
  o.match = m.match();
  o.shown += m.flush();
  return o;
}

// In plain words: the first end of any stop text in the whole, the longest of those that end there; what is before it is shown.
Outcome plain(const std::vector<std::string>& stops, const std::string& all) {
  for (size_t end = 1; end <= all.size(); ++end) {
    std::string best;
    for (const std::string& s : stops)
      if (s.size() <= end && all.compare(end - s.size(), s.size(), s) == 0 && s.size() > best.size()) best = s;
    if (!best.empty()) return {all.substr(0, end - best.size()), best};
  }
  return {all, ""};
}

TEST(StopMatch, EndsWhereATextIsWhole) {
  EXPECT_EQ(feed({"END"}, {"one EN", "D two"}), (Outcome{"one ", "END"}));
  EXPECT_EQ(feed({"END"}, {"one EN", "d two"}), (Outcome{"one ENd two", ""}));
  EXPECT_EQ(feed({"\n\n"}, {"a\n", "b\n", "\nc"}), (Outcome{"a\nb", "\n\n"}));
  EXPECT_EQ(feed({"aab"}, {"aaab"}), (Outcome{"a", "aab"}));
  EXPECT_EQ(feed({"abcd", "bc"}, {"xabc", "d"}), (Outcome{"xa", "bc"})) << "the first that is whole";
  EXPECT_EQ(feed({"c", "abc"}, {"xabc"}), (Outcome{"x", "abc"})) << "the longest of those that end there";
  EXPECT_EQ(feed({}, {"all", " of it"}), (Outcome{"all of it", ""}));
  EXPECT_EQ(feed({"END"}, {"one E"}), (Outcome{"one E", ""})) << "what was held back comes out at the end";
}

TEST(StopMatch, ShowsAtOnceWhatCannotBeAStopText) {
  StopMatch m({"stop", "top hat"});
  EXPECT_EQ(m.push("a st"), "a ");
  EXPECT_EQ(m.push("i"), "sti");
  EXPECT_EQ(m.push("sto"), "");
  EXPECT_EQ(m.push("p"), "");
  EXPECT_TRUE(m.matched());
  EXPECT_EQ(m.push("more"), "");
  EXPECT_EQ(m.flush(), "");
  StopMatch n({"stop!", "top hat"});
  EXPECT_EQ(n.push("stop h"), "s") << "one text is out, the end of it begins another";
  EXPECT_EQ(n.push("at"), "");
  EXPECT_EQ(n.match(), "top hat");
}

TEST(StopMatch, DoesNotDependOnThePieces) {
  std::mt19937_64 rng(5);
  const auto word = [&](size_t most) {
    std::string s(1 + rng() % most, 'a');
    for (char& c : s) c = static_cast<char>('a' + rng() % 2);
    return s;
  };
  for (int round = 0; round < 4000; ++round) {
    std::vector<std::string> stops(rng() % 4);
    for (std::string& s : stops) s = word(5);
    std::vector<std::string> pieces(1 + rng() % 6);
    std::string all;
    for (std::string& p : pieces) all += p = word(4);
    ASSERT_EQ(feed(stops, pieces), plain(stops, all)) << all;
  }
}

}  // namespace
}  // namespace nyb
