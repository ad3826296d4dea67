// norm_test.cpp - addition, RMSNorm, RoPE and SwiGLU against double, within derived bounds; u is half an ulp of 1.
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "kern/dmath.h"
#include "kern/ref.h"
#include "ref/bits.h"
#include "ref/exact_fma.h"
#include "ref/rule2.h"

namespace nyb::test {
namespace {

TEST(VecAdd, IsOneAddition) {
  Random rng(30);
  std::vector<float> a(1000), b(1000), y(1000);
  for (float& v : a) v = rng.any();
  for (float& v : b) v = rng.any();
  ref::vec_add(a.data(), b.data(), y.data(), a.size());
  for (size_t i = 0; i < a.size(); ++i) ASSERT_TRUE(same(y[i], exact_fma(a[i], 1.0f, b[i]))) << a[i] << " + " << b[i];
}

// ss: chains of n/16 fused additions of positive terms, four levels of the tree. Division, addition of eps: one u each; the root
// halves all that, and it, the reciprocal and two products add one u each.
TEST(RmsNorm, IsNearDouble) {
  Random rng(31);
  for (const size_t n : {1u, 2u, 15u, 16u, 17u, 64u, 172u, 768u, 4096u}) {
    for (const float size : {1e-3f, 1.0f, 1e4f}) {
      const std::vector<float> x = normals(rng, n, size);
      const std::vector<float> w = normals(rng, n);
      std::vector<float> y(n);
      ASSERT_EQ(ref::rmsnorm(x.data(), w.data(), y.data(), n, 1e-5f), 0u);
      double ss = 0;
      for (const float v : x) ss += static_cast<double>(v) * v;
      const double rstd = 1.0 / std::sqrt(ss / static_cast<double>(n) + static_cast<double>(1e-5f));
      const size_t chain = (n + 15) / 16;
      const double bound = ((static_cast<double>(chain) + 6) / 2 + 4) * kHalfUlp * 1.001;
      for (size_t i = 0; i < n; ++i)
        ASSERT_NEAR(y[i], x[i] * rstd * w[i], std::fabs(x[i] * rstd * w[i]) * bound) << i << " of " << n;
    }
  }
}

// The partial sums, the tree and the single operations, written out once more.
TEST(RmsNorm, SumsByRule2) {
  Random rng(32);
  for (size_t n = 1; n < 300; ++n) {
    const std::vector<float> x = normals(rng, n);
    const std::vector<float> w = normals(rng, n);
    std::vector<float> y(n);
    ASSERT_EQ(ref::rmsnorm(x.data(), w.data(), y.data(), n, 1e-6f), 0u);
    float part[16] = {};
    for (size_t i = 0; i < n; ++i) part[i % 16] = exact_fma(x[i], x[i], part[i % 16]);
    const float mean = rule2_tree(part) / static_cast<float>(n) + 1e-6f;
    const float rstd = 1.0f / static_cast<float>(std::sqrt(static_cast<double>(mean)));  // double's 53 bits round it rightly
    for (size_t i = 0; i < n; ++i) ASSERT_EQ(bits_of(y[i]), bits_of((x[i] * rstd) * w[i])) << i << " of " << n;
  }
}

TEST(RmsNorm, OfZerosIsZeroAndInPlaceIsTheSame) {
  std::vector<float> x(20, 0.0f), w(20, 1.0f), y(20, 9.0f);
  ASSERT_EQ(ref::rmsnorm(x.data(), w.data(), y.data(), 20, 1e-5f), 0u);
  for (const float v : y) EXPECT_EQ(v, 0.0f);
  Random rng(33);
  x = normals(rng, 20);
  w = normals(rng, 20);
  ref::rmsnorm(x.data(), w.data(), y.data(), 20, 1e-5f);
  ref::rmsnorm(x.data(), w.data(), x.data(), 20, 1e-5f);
  for (size_t i = 0; i < 20; ++i) EXPECT_EQ(bits_of(x[i]), bits_of(y[i]));
}

TEST(RmsNorm, SaysWhenTheSumIsNotFinite) {
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> w(40, 1.0f);
  std::vector<float> y(40);
  for (const float bad : {inf, -inf, std::nanf(""), 2e19f}) {  // the square of the last is above the greatest float
    std::vector<float> x(40, 1.0f);
    x[37] = bad;
    EXPECT_EQ(ref::rmsnorm(x.data(), w.data(), y.data(), 40, 1e-5f), 1u) << bad;
  }
  std::vector<float> x(40, 1.0f);
  x[37] = 1.8e19f;
  EXPECT_EQ(ref::rmsnorm(x.data(), w.data(), y.data(), 40, 1e-5f), 0u);
}

// One rounding of the product b s, and one of the result.
TEST(Rope, TurnsEachPairOfEachHead) {
  Random rng(34);
  constexpr size_t half = 24, stride = 52, heads = 3;
  const std::vector<float> x = normals(rng, stride * heads);
  std::vector<float> c(half), s(half), y = x;
  for (size_t i = 0; i < half; ++i) {
    const SinCos t = det_sincos(0.37 * static_cast<double>(i * i));
    c[i] = static_cast<float>(t.cos);
    s[i] = static_cast<float>(t.sin);
  }
  ref::rope(y.data(), c.data(), s.data(), half, stride, heads);
  for (size_t h = 0; h < heads; ++h) {
    for (size_t i = 0; i < half; ++i) {
      const double a = x[h * stride + i];
      const double b = x[h * stride + half + i];
      const double a1 = a * c[i] - b * s[i];
      const double b1 = b * c[i] + a * s[i];
      ASSERT_NEAR(y[h * stride + i], a1, kHalfUlp * (std::fabs(a1) + std::fabs(b * s[i])) * 1.001);
      ASSERT_NEAR(y[h * stride + half + i], b1, kHalfUlp * (std::fabs(b1) + std::fabs(a * s[i])) * 1.001);
      ASSERT_EQ(bits_of(y[h * stride + i]), bits_of(exact_fma(x[h * stride + i], c[i], -(x[h * stride + half + i] * s[i]))));
      ASSERT_EQ(bits_of(y[h * stride + half + i]), bits_of(exact_fma(x[h * stride + half + i], c[i], x[h * stride + i] * s[i])));
    }
    for (size_t i = 2 * half; i < stride; ++i) ASSERT_EQ(bits_of(y[h * stride + i]), bits_of(x[h * stride + i])) << "not a pair";
  }
}

// exp8 is within 8.5e-8, which 1 + e and the quotient pass on at most whole; then addition, division and product.
TEST(SwiGlu, IsNearDouble) {
  Random rng(35);
  std::vector<float> g(4000), up(4000), y(4000);
  for (float& v : g) v = rng.uniform(-86.0f, 86.0f);
  for (size_t i = 0; i < 2000; ++i) g[i] = rng.normal() * 3.0f;
  for (float& v : up) v = rng.normal();
  g[0] = 0.0f;
  ref::swiglu(g.data(), up.data(), y.data(), g.size());
  for (size_t i = 0; i < g.size(); ++i) {
    const double want = g[i] / (1.0 + std::exp(-static_cast<double>(g[i]))) * up[i];
    ASSERT_NEAR(y[i], want, std::fabs(want) * (8.5e-8 + 3 * kHalfUlp) * 1.001 + 0x1p-149) << g[i];
  }
}

TEST(SwiGlu, IsTheFormulaStepByStep) {
  Random rng(36);
  std::vector<float> g(1000), up(1000), y(1000);
  for (float& v : g) v = rng.normal() * 4.0f;
  for (float& v : up) v = rng.normal();
  ref::swiglu(g.data(), up.data(), y.data(), g.size());
  for (size_t i = 0; i < g.size(); ++i) {
    const float gate = g[i] / (1.0f + ref::exp8(-g[i]));
    ASSERT_EQ(bits_of(y[i]), bits_of(gate * up[i])) << g[i];
  }
  ref::swiglu(g.data(), up.data(), g.data(), g.size());
  for (size_t i = 0; i < g.size(); ++i) ASSERT_EQ(bits_of(g[i]), bits_of(y[i])) << "in place of g";
}

TEST(SwiGlu, FarDownItVanishesAndFarUpItIsTheProduct) {
  const float g[] = {-1000.0f, -90.0f, 100.0f, 3e38f};
  const float up[] = {2.0f, 2.0f, 2.0f, 1.0f};
  float y[4];
  ref::swiglu(g, up, y, 4);
  EXPECT_LT(std::fabs(y[0]), 1e-34f);
  EXPECT_LT(std::fabs(y[1]), 1e-35f);
  EXPECT_EQ(y[2], 200.0f);
  EXPECT_EQ(y[3], 3e38f);
}

}  // namespace
}  // namespace nyb::test
