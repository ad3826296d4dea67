// What is guessed, and when.
#include "engine/draft.h"

#include <gtest/gtest.h>

#include <utility>

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

// Of a drafter that guesses: the passes, scored so, until it stops; and the passes without a guess until it tries again.
std::pair<int, int> stops_and_waits(Drafter& d, size_t guesses, size_t right) {
  int passes = 0, waited = 0;
  for (; !d.guess(kRepeats, 8).empty() && passes < 1000; passes++) d.scored(guesses, right);
  for (; d.guess(kRepeats, 8).empty() && waited < 1000; waited++) {}
  return {passes, waited + 1};  // that which showed that it stopped is one
}

// With 1 + k/4 for k guesses, one pays where more than a quarter is right. Of n wrong ones, 1.2 of 2 + 10 (1 - 0.9^n) are: four
// passes leave 3.44, and 0.99^21 of them are 2.79, fewer than the 2.8 that the quarter allows.
TEST(Draft, StopsWhereGuessesAreWrongAndTriesAgainLater) {
  Drafter d(false);
  d.timed(0, 0.010);
  d.timed(4, 0.020);
  EXPECT_EQ(stops_and_waits(d, 4, 0), std::pair(4, 21));
  for (int i = 0; i < 20; i++) d.scored(4, 4);
  EXPECT_GT(d.guess(kRepeats, 8).size(), 2u);
}

// With 1.53 for one guess more than 0.53 must be right. Where one is right and the next is not, 1.2 of 2 and 0.9^2 + 0.9 + 1 times
// that, 3.91 of 7.42, are less; with 0.99^15 of what was seen it is more.
TEST(Draft, WhatWasRightIsForgottenToo) {
  Drafter d(false);
  d.timed(0, 0.0100);
  d.timed(1, 0.0153);
  EXPECT_EQ(stops_and_waits(d, 2, 1), std::pair(3, 15));
}

// A guess of eight took 9 times as long, then as long as none: 9, 7, 5.5 with a quarter of the newest; 5.8 is where one pays.
TEST(Draft, TimesFollowTheNewest) {
  Drafter d(false);
  d.timed(0, 0.010);
  d.timed(8, 0.090);
  for (int i = 0; i < 2; i++) {
    EXPECT_TRUE(d.guess(kRepeats, 8).empty()) << i;
    d.timed(8, 0.010);
  }
  EXPECT_FALSE(d.guess(kRepeats, 8).empty());
}

}  // namespace
}  // namespace nyb
