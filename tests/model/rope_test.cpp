// rope_test.cpp - frequencies: known answers, worked out in double by another program from the published formulas.
#include "model/rope.h"

#include <gtest/gtest.h>

#include <map>

#include "kern/dmath.h"
#include "kern/mxcsr.h"

namespace nyb {
namespace {

// The other program's pow and log are the C library's, off by an ulp or so, times the few operations after them.
void expect_near(const RopeRule& rule, uint32_t head_dim, const std::map<size_t, double>& known) {
  const MxcsrScope float_rules;
  const std::vector<double> f = rope_frequencies(rule, head_dim);
  ASSERT_EQ(f.size(), head_dim / 2);
  for (const auto& [i, want] : known) EXPECT_NEAR(f[i], want, 4e-15 * want) << i;
  for (size_t i = 1; i < f.size(); i++) EXPECT_LT(f[i], f[i - 1]) << i;
}

TEST(Rope, Plain) {
  RopeRule r;
  const std::vector<double> f = rope_frequencies(r, 6);
  EXPECT_EQ(f, (std::vector<double>{1, det_pow(10000, -2.0 / 6), det_pow(10000, -4.0 / 6)}));
  expect_near(r, 8, {{0, 1}, {1, 0.1}, {2, 0.01}, {3, 0.001}});
}

TEST(Rope, Linear) {
  RopeRule r;
  r.scaling = RopeScaling::linear;
  r.factor = 4;
  expect_near(r, 8, {{0, 0.25}, {1, 0.025}, {2, 0.0025}, {3, 0.00025}});
}

// Llama 3.1: pairs 0 to 28 stay, from 35 on they are an eighth. Llama 3.2: factor 32, half the head.
TEST(Rope, Llama3) {
  RopeRule r{.theta = 500000, .scaling = RopeScaling::llama3, .factor = 8, .original_ctx = 8192};
  expect_near(r, 128,
              {{0, 1.0},
               {1, 0.8146172338565447},
               {28, 0.003211445994752591},
               {29, 0.002166570763503359},
               {30, 0.0013718935677611381},
               {32, 0.0005248461609929547},
               {35, 9.556212353964683e-05},
               {36, 7.78465527393245e-05},
               {63, 3.068925988914511e-07}});
  r.factor = 32;
  expect_near(r, 64,
              {{0, 1.0},
               {13, 0.004839421345719893},
               {14, 0.003211445994752591},
               {15, 0.001290547928209264},
               {16, 0.00042955679655936815},
               {17, 9.70828780262767e-05},
               {18, 1.9461638184831125e-05},
               {31, 9.41830672543491e-08}});
}

// Qwen2.5's own: the ramp goes from pair 23 to pair 40. Then one whose ramp begins and ends between pairs.
TEST(Rope, Yarn) {
  RopeRule r{.theta = 1e6, .scaling = RopeScaling::yarn, .factor = 4, .original_ctx = 32768};
  expect_near(r, 128,
              {{0, 1.0},
               {1, 0.8058421877614819},
               {23, 0.006978305848598663},
               {24, 0.005375321490790102},
               {30, 0.001064360981247002},
               {39, 6.490394320837029e-05},
               {40, 4.445698525097307e-05},
               {41, 3.582531425592407e-05},
               {63, 3.102344401879299e-07}});
  r = {.theta = 10000, .scaling = RopeScaling::yarn, .factor = 16, .original_ctx = 4096, .truncate = false};
  expect_near(r, 64,
              {{0, 1.0},
               {9, 0.07498942093324558},
               {10, 0.05623413251903491},
               {11, 0.040436894719351676},
               {15, 0.008634272965535735},
               {22, 0.00018222971922427487},
               {23, 8.334508951020775e-05},
               {31, 8.334508951020775e-06}});
  // a ramp that would begin before the first pair, and one that would end beyond the head's width
  r = {.theta = 10000, .scaling = RopeScaling::yarn, .factor = 4, .original_ctx = 64};
  expect_near(r, 16, {{0, 1.0}, {1, 0.23717082451262847}, {2, 0.05}, {3, 0.007905694150420948}, {7, 7.905694150420948e-05}});
  r = {.theta = 10, .scaling = RopeScaling::yarn, .factor = 4, .original_ctx = 840};
  expect_near(r, 64, {{0, 1.0}, {18, 0.27384196342643613}, {24, 0.16267215057742418}, {31, 0.08548016816192298}});
  EXPECT_NEAR(yarn_magnitude(4), 1.138629436111989, 4e-16);
  EXPECT_NEAR(yarn_magnitude(4, 0.5), 1.0693147180559945, 4e-16);
  EXPECT_EQ(yarn_magnitude(1), 1);
  EXPECT_EQ(yarn_magnitude(0.5), 1);
}

// A ramp without length: where the two pairs are one, between two of the head's or, in a context that none turns in, its first.
TEST(Rope, YarnWithoutARamp) {
  RopeRule r{.theta = 10000, .scaling = RopeScaling::yarn, .factor = 2, .original_ctx = 4096, .beta_fast = 8, .beta_slow = 8};
  r.truncate = false;
  const auto expect_slower_from = [](size_t first, const RopeRule& rule) {
    const std::vector<double> plain = rope_frequencies({}, 64), f = rope_frequencies(rule, 64);
    for (size_t i = 0; i < f.size(); i++) EXPECT_EQ(f[i], i < first ? plain[i] : plain[i] / 2) << i;
  };
  expect_slower_from(16, r);  // 8 turns are at pair 15.3
  // Beginning and end would lie before the first pair, at -12.9 and -0.8.
  r = {.theta = 10000, .scaling = RopeScaling::yarn, .factor = 2, .original_ctx = 5};
  expect_slower_from(1, r);
}

}  // namespace
}  // namespace nyb
