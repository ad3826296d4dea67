// penalty_test.cpp - the penalty on what was said before, against its plain words: once for each of the last N ids.
#include <gtest/gtest.h>
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <random>
#include <set>
#include "engine/logprob.h"
#include "engine/sampler.h"
#include "kern/cpu.h"
#include "kern/error.h"

namespace nyb {
namespace {

const KernTable& best() {
  static const KernChoice choice = kern_pick(cpu_here());
  return choice.table;
}

int32_t greedy(std::vector<float> logits, float penalty, uint32_t last_n, const std::vector<int32_t>& context) {
  Sampler s({0, 1, 0, 0, penalty, last_n}, 1);
  return samp_pick(s, best(), logits, context);
}

TEST(Penalty, DividesThePositiveAndMultipliesTheNegative) {
  EXPECT_EQ(greedy({3, 2}, 1, 64, {0}), 0) << "a penalty of 1 is none";
  EXPECT_EQ(greedy({3, 2}, 1.5f, 64, {0}), 0) << "3 / 1.5 is 2, and the lower id wins a tie";
  EXPECT_EQ(greedy({3, 2}, 1.51f, 64, {0}), 1);
  EXPECT_EQ(greedy({-2, -3}, 1.4f, 64, {0}), 0);
  EXPECT_EQ(greedy({-2, -3}, 1.6f, 64, {0}), 1);
  EXPECT_EQ(greedy({2, 3}, 0.5f, 64, {0}), 0) << "below 1 it makes a token likelier";
}

TEST(Penalty, CountsATokenOnceHoweverOftenItCame) { EXPECT_EQ(greedy({3, 1.9f}, 1.5f, 64, {0, 0, 0, 0}), 0); }

TEST(Penalty, LooksAtTheLastTokensOnly) {
  EXPECT_EQ(greedy({3, 2, 0}, 2, 2, {0, 2, 2}), 0);
  EXPECT_EQ(greedy({3, 2, 0}, 2, 3, {0, 2, 2}), 1);
  EXPECT_EQ(greedy({3, 2, 0}, 2, 0, {0, 2, 2}), 0) << "0: none";
  EXPECT_EQ(greedy({3, 2, 0}, 2, UINT32_MAX, {0, 2, 2}), 1);
  EXPECT_EQ(greedy({3, 2, 0}, 2, 64, {}), 0);
  EXPECT_EQ(greedy({3, 2}, 2, 64, {7, -1}), 0) << "ids outside the vocabulary are none of its tokens";
}

TEST(Penalty, StaysWithinTheFiniteFloats) {
  Sampler s({0, 1, 0, 0, 100, 64}, 1);
  EXPECT_EQ(samp_pick(s, best(), std::vector<float>{-FLT_MAX, -FLT_MAX}, std::vector<int32_t>{0, 1}), 0);
  EXPECT_FALSE(s.warned_not_finite) << "no logit of the model was odd";
  EXPECT_EQ(samp_pick(s, best(), std::vector<float>{NAN, 1, INFINITY}, std::vector<int32_t>{0, 1, 2}), 1);
  EXPECT_TRUE(s.warned_not_finite);
  for (const float bad : {0.0f, -1.0f, 0.009f, 101.0f, NAN, INFINITY})
    EXPECT_THROW(Sampler({0, 1, 0, 0, bad, 64}, 1), Error) << bad;
}

// As if the model had given the penalised logits itself, at any temperature, and with as many draws.
TEST(Penalty, IsTheSameAsOtherLogits) {
  std::mt19937_64 rng(3);
  for (int round = 0; round < 200; ++round) {
    const size_t n = 1 + rng() % 300;
    std::vector<float> logits(n);
    for (float& l : logits) l = static_cast<float>(static_cast<int>(rng() % 2001) - 1000) * 0.01f;
    std::vector<int32_t> context(rng() % 40);
    for (int32_t& id : context) id = static_cast<int32_t>(rng() % n);
    const auto last_n = static_cast<uint32_t>(rng() % 50);
    const float penalty = round % 2 ? 1.3f : 0.8f;
    Sampler a({0.8f, 0.95f, 0.01f, 40, penalty, last_n}, 9), b({0.8f, 0.95f, 0.01f, 40}, 9);
    std::vector<float> other = logits;
    const size_t from = context.size() > last_n ? context.size() - last_n : 0;
    for (const int32_t id : std::set<int32_t>(context.begin() + static_cast<std::ptrdiff_t>(from), context.end())) {
      float& l = other[static_cast<size_t>(id)];
      l = l > 0 ? l / penalty : l * penalty;
    }
    ASSERT_EQ(samp_pick(a, best(), logits, context), samp_pick(b, best(), other)) << round;
    ASSERT_EQ(a.rng.next(), b.rng.next());
  }
}

TEST(LogProb, IsTheLogarithmOfTheSoftmax) {
  const std::vector<float> logits = {1, 3, 3, -2, 0};
  double sum = 0;
  for (const float l : logits) sum += std::exp(static_cast<double>(l));
  const std::vector<LogProb> top = top_logprobs(logits, 9);
  ASSERT_EQ(top.size(), 5u);
  const int32_t order[] = {1, 2, 0, 4, 3};
  double all = 0;
  for (size_t i = 0; i < top.size(); ++i) {
    EXPECT_EQ(top[i].id, order[i]);
    EXPECT_NEAR(top[i].value, std::log(std::exp(static_cast<double>(logits[static_cast<size_t>(order[i])])) / sum), 1e-14);
    EXPECT_EQ(logprob_of(logits, top[i].id).value, top[i].value);
    all += std::exp(top[i].value);
  }
  EXPECT_NEAR(all, 1, 1e-14);
  EXPECT_EQ(top_logprobs(logits, 2).size(), 2u);
  EXPECT_TRUE(top_logprobs(logits, 0).empty());
}

TEST(LogProb, LeavesOutWhatIsNotFinite) {
  const std::vector<float> logits = {NAN, 700, INFINITY, 700, -INFINITY};
  const std::vector<LogProb> top = top_logprobs(logits, 5);
  EXPECT_EQ(top[0].id, 1);
  EXPECT_NEAR(top[0].value, std::log(0.5), 1e-12);
  EXPECT_EQ(top[1].id, 3);
  EXPECT_EQ(top[2].value, -INFINITY);
  EXPECT_EQ(log_sum_exp(std::vector<float>{NAN, INFINITY}), -INFINITY);
  EXPECT_EQ(logprob_of(std::vector<float>{NAN, INFINITY}, 0).value, -INFINITY);
}

}  // namespace
}  // namespace nyb
