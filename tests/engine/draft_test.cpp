// What is guessed, and when.
#include "engine/draft.h"

#include <gtest/gtest.h>

namespace nyb {
namespace {

using Ids = std::vector<int32_t>;

Ids always(const Ids& ids, size_t most = 8) { return Drafter(true).guess(ids, most); }

TEST(Draft, GoesOnAsItWentOnBefore) {
  EXPECT_EQ(always({1, 2, 3, 4, 5, 9, 1, 2, 3}, 3), (Ids{4, 5, 9}));
  EXPECT_EQ(always({1, 2, 3, 4, 1, 2, 7, 8, 5, 1, 2}, 2), (Ids{7, 8})) << "the newest place";
  EXPECT_EQ(always({3, 1, 2, 4, 6, 1, 2, 5, 3, 1, 2}, 2), (Ids{4, 6})) << "the longest place";
  EXPECT_EQ(always({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 1, 2}, 100).size(), Drafter::kMost);
}

TEST(Draft, GoesRoundPastTheEnd) {
  EXPECT_EQ(always({5, 5, 5}, 4), (Ids{5, 5, 5, 5}));
  EXPECT_EQ(always({1, 2, 3, 1, 2, 3, 1, 2}, 5), (Ids{3, 1, 2, 3, 1}));
}

TEST(Draft, NothingWhereNothingWasSaidBefore) {
  for (const Ids& ids : {Ids{}, Ids{1}, Ids{1, 2}, Ids{1, 2, 3, 4}, Ids{7, 1, 2, 3, 4, 7}}) EXPECT_EQ(always(ids), Ids{});
  EXPECT_EQ(always({1, 2, 3, 1, 2}, 0), Ids{}) << "no room";
}

const Ids kRepeats = {1, 2, 3, 4, 5, 6, 1, 2, 3};

TEST(Draft, WaitsForThePlainTime) {
  Drafter d(false);
  EXPECT_EQ(d.guess(kRepeats, 8), Ids{});
  d.timed(0, 0.01);
  EXPECT_FALSE(d.guess(kRepeats, 8).empty());
}

TEST(Draft, MoreWhereGuessesCostLittle) {
  const auto guesses = [](double seconds_of_8) {
    Drafter d(false);
    d.timed(0, 0.010);
    d.timed(8, seconds_of_8);
    return d.guess(kRepeats, 8).size();
  };
  EXPECT_EQ(guesses(0.010), 8u);
  EXPECT_EQ(guesses(0.090), 0u) << "as long as one by one";
  EXPECT_GT(guesses(0.030), 0u);
  EXPECT_LT(guesses(0.030), 8u);
}

TEST(Draft, StopsWhereGuessesAreWrongAndTriesAgainLater) {
  Drafter d(false);
  d.timed(0, 0.010);
  d.timed(4, 0.020);
  int passes = 0;
  for (; !d.guess(kRepeats, 8).empty() && passes < 1000; passes++) d.scored(4, 0);
  EXPECT_GT(passes, 2);
  EXPECT_LT(passes, 100);
  int waited = 0;
  while (d.guess(kRepeats, 8).empty() && waited < 1000) waited++;
  EXPECT_GT(waited, 5);
  EXPECT_LT(waited, 1000);
  for (int i = 0; i < 20; i++) d.scored(4, 4);
  EXPECT_GT(d.guess(kRepeats, 8).size(), 2u);
}

}  // namespace
}  // namespace nyb
