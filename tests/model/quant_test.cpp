// The quantizers by themselves: the promised errors, the extremes, and bytes that never change.
#include "model/quant.h"

#include <gtest/gtest.h>
#include <xxhash.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "kern/f16.h"
#include "kern/mxcsr.h"
#include "model/measure.h"

namespace nyb {
namespace {

constexpr size_t kRows = 256, kCols = 768;

struct Errors {
  double weights = 0, weights2 = 0, product = 0;  // relative L2; the sum of squares; relative L2
};

// Normal weights in panels, against normal activations.
Errors errors(TType type, bool fit) {
  const std::vector<float> w = normal_values(kRows * kCols, 7);
  std::vector<uint8_t> panel(panel_bytes(type, kCols));
  // one vector against 256 rows still scatters by a twentieth
  std::vector<ProductMeter> meters;
  for (uint64_t seed = 1; seed <= 16; seed++) meters.emplace_back(kCols, seed << 32);
  ErrorSum weights, product;
  for (size_t p = 0; p < kRows / 16; p++) {
    float scales[16];
    const float* rows = w.data() + p * 16 * kCols;
    quant_panel(type, rows, 16, kCols, fit, panel.data(), scales);
    weights.add(weight_error(type, rows, 16, kCols, panel.data(), scales));
    for (const ProductMeter& m : meters) product.add(m.measure(type, rows, 16, panel.data(), scales));
  }
  return {weights.relative(), weights.difference, product.relative()};
}

TEST(Quantizers, ErrorsAreThePromisedOnes) {
  const Errors q8 = errors(TType::q8, true), plain = errors(TType::q4, false), fitted = errors(TType::q4, true),
               f32 = errors(TType::f32, true);
  EXPECT_GT(q8.product, 0.0090);
  EXPECT_LT(q8.product, 0.0106);
  EXPECT_GT(plain.product, 0.095);
  EXPECT_LT(plain.product, 0.101);
  EXPECT_GT(fitted.product, 0.082);
  EXPECT_LT(fitted.product, 0.084);
  const double ratio = fitted.weights2 / plain.weights2;
  EXPECT_GT(ratio, 0.67);
  EXPECT_LT(ratio, 0.71);
  EXPECT_EQ(f32.weights, 0);
  EXPECT_LT(f32.product, 1e-6);
  std::printf("product: q8 %.3f %%, q4 plain %.2f %%, q4 fitted %.2f %%; squared weight error fitted / plain %.3f\n",
              100 * q8.product, 100 * plain.product, 100 * fitted.product, ratio);
}

TEST(Quantizers, NormalValuesAreNormal) {
  const std::vector<float> v = normal_values(100001, 3);
  double m = 0, s = 0, four = 0;
  for (const float x : v) m += x;
  m /= static_cast<double>(v.size());
  for (const float x : v) {
    s += (x - m) * (x - m);
    four += std::pow(x - m, 4);
  }
  s /= static_cast<double>(v.size());
  EXPECT_NEAR(m, 0, 0.02);
  EXPECT_NEAR(s, 1, 0.02);
  EXPECT_NEAR(four / static_cast<double>(v.size()) / (s * s), 3, 0.1);
}

// A model converted today and next year, here and elsewhere, is the same file: these are the hashes of the panels.
TEST(Quantizers, SameBytesForEver) {
  const std::vector<float> w = normal_values(size_t{16} * 100, 11);
  const auto hash = [&](TType type, bool fit) {
    std::vector<uint8_t> panel(panel_bytes(type, 100) + 64);
    float scales[16] = {};
    quant_panel(type, w.data(), 16, 100, fit, panel.data(), scales);
    std::memcpy(panel.data() + panel_bytes(type, 100), scales, 64);
    return XXH3_64bits(panel.data(), panel.size());
  };
  EXPECT_EQ(hash(TType::f32, true), 0xb3c80c92344b5196u);
  EXPECT_EQ(hash(TType::q8, true), 0x4ac50c4231edd077u);
  EXPECT_EQ(hash(TType::q4, true), 0x4a12cbd9641c7ed0u);
  EXPECT_EQ(hash(TType::q4, false), 0xbbd55a9e035b3cdfu);
}

// Fitted is at least as good as max/7 in every single group, of any kind.
TEST(Quantizers, FittedIsNeverWorse) {
  const std::vector<float> v = normal_values(size_t{32} * 2000, 5);
  const auto error = [](const float* w, uint16_t s, const int8_t* q) {
    double e = 0;
    for (size_t i = 0; i < 32; i++) e += std::pow(static_cast<double>(w[i]) - static_cast<double>(f16_to_f32(s)) * q[i], 2);
    return e;
  };
  for (size_t g = 0; g < 2000; g++) {
    float w[32];
    for (size_t i = 0; i < 32; i++)
      w[i] = v[g * 32 + i] * (g % 3 == 0 && i == g % 32 ? 30.0f : 1.0f) * (g % 5 == 0 && v[g * 32 + i] < 0 ? 0.1f : 1.0f);
    int8_t a[32], b[32];
    const uint16_t sa = quant_group_q4(w, true, a), sb = quant_group_q4(w, false, b);
    ASSERT_LE(error(w, sa, a), error(w, sb, b)) << g;
    float most = 0;
    for (const float x : w) most = std::max(most, std::fabs(x));
    ASSERT_EQ(sb, f32_to_f16(most / 7)) << g;
    for (size_t i = 0; i < 32; i++) {
      ASSERT_GE(a[i], -8);
      ASSERT_LE(a[i], 7);
      ASSERT_GE(b[i], -7);
    }
  }
}

// What int4 can hold exactly comes back exactly: any integers of -8..7 with the ends in use, times a power of two of either sign.
TEST(Quantizers, ExactGroupsStayExact) {
  for (const float step : {1.0f, -1.0f, 0.0625f, -0.5f}) {
    float w[32];
    for (int i = 0; i < 32; i++) w[i] = static_cast<float>(i % 16 - 8) * step;
    int8_t q[32];
    const float s = f16_to_f32(quant_group_q4(w, true, q));
    for (int i = 0; i < 32; i++) EXPECT_EQ(s * static_cast<float>(q[i]), w[i]);
  }
}

TEST(Quantizers, ZerosAndTinyAndHuge) {
  int8_t q[32];
  float w[32] = {};
  EXPECT_EQ(quant_group_q4(w, true, q), 0);
  EXPECT_EQ(quant_row_q8(w, 32, q), 0.0f);
  EXPECT_FALSE(std::signbit(quant_row_q8(w, 32, q)));
  for (const int8_t x : q) EXPECT_EQ(x, 0);
  w[3] = -0.0f;
  EXPECT_EQ(quant_group_q4(w, true, q), 0);

  // the whole range of float gives defined, finite results, with int8 within half a step
  for (const float m : {FLT_TRUE_MIN, 1e-40f, FLT_MIN, 1.49e-36f, 1.5e-36f, 1e-20f, 1e-8f, 1.0f, 65504.0f, 1e20f, FLT_MAX}) {
    for (int i = 0; i < 32; i++) w[i] = m / 16.0f * static_cast<float>(i - 16);
    const float s = quant_row_q8(w, 32, q);
    ASSERT_TRUE(std::isfinite(s));
    if (m < 1.49e-36f) { EXPECT_EQ(s, 0.0f) << m; }
    if (m > 1.495e-36f) {
      for (int i = 0; i < 32; i++)
        EXPECT_LE(std::fabs(static_cast<double>(w[i]) - static_cast<double>(s) * q[i]), 0.5001 * static_cast<double>(s)) << m;
    }
    for (const bool fit : {false, true}) {
      const uint16_t h = quant_group_q4(w, fit, q);
      EXPECT_NE(h & 0x7c00, 0x7c00) << m;
      for (const int8_t x : q) EXPECT_TRUE(x >= -8 && x <= 7) << m;
    }
  }
}

TEST(Quantizers, NearestEven) {
  float w[32] = {127, 0.5f, 1.5f, 2.5f, -0.5f, -1.5f, -2.5f, 126.5f};
  int8_t q[32];
  EXPECT_EQ(quant_row_q8(w, 32, q), 1.0f);
  const int want[8] = {127, 0, 2, 2, 0, -2, -2, 126};
  for (int i = 0; i < 8; i++) EXPECT_EQ(q[i], want[i]) << i;
}

TEST(Quantizers, NotFiniteIsFound) {
  std::vector<float> w(100, 1.0f);
  EXPECT_FALSE(find_not_finite(w.data(), w.size()));
  w[99] = FLT_MAX;
  EXPECT_FALSE(find_not_finite(w.data(), w.size()));
  for (const float bad : {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(), std::nanf("")}) {
    w[37] = bad;
    EXPECT_EQ(find_not_finite(w.data(), w.size()), 37u);
  }
}

TEST(Quantizers, ScalesThatF16CannotHold) {
  std::vector<float> row(96, 0.5f);
  EXPECT_FALSE(find_scale_fault(TType::q4, row.data(), row.size()));
  // 65504 * 7 is the last that fits
  row[70] = 458528.0f;
  EXPECT_FALSE(find_scale_fault(TType::q4, row.data(), row.size()));
  row[70] = -458600.0f;
  const auto large = find_scale_fault(TType::q4, row.data(), row.size());
  ASSERT_TRUE(large);
  EXPECT_EQ(large->group, 2u);
  EXPECT_TRUE(large->large);
  EXPECT_EQ(large->amax, 458600.0f);
  // a row of small weights only: int8 is better
  std::fill(row.begin(), row.end(), 1e-6f);
  const auto small = find_scale_fault(TType::q4, row.data(), row.size());
  ASSERT_TRUE(small);
  EXPECT_EQ(small->group, 0u);
  EXPECT_FALSE(small->large);
  // beside large ones int8 would make them zero: int4 stays
  row[0] = 1.0f;
  EXPECT_FALSE(find_scale_fault(TType::q4, row.data(), row.size()));
  // the bound itself: 8 * 2^-18
  std::fill(row.begin(), row.end(), 8.0f / 262144);
  EXPECT_FALSE(find_scale_fault(TType::q4, row.data(), row.size()));
  std::fill(row.begin(), row.end(), std::nextafterf(8.0f / 262144, 0));
  EXPECT_TRUE(find_scale_fault(TType::q4, row.data(), row.size()));
  std::fill(row.begin(), row.end(), 0.0f);
  EXPECT_FALSE(find_scale_fault(TType::q4, row.data(), row.size()));
}

// The reading of a model must not depend on the caller's float environment: the bytes are made under the project's own.
TEST(Quantizers, FlushingModeIsNotInherited) {
  float w[32];
  for (int i = 0; i < 32; i++) w[i] = 1e-7f * static_cast<float>(i - 16);
  int8_t a[32], b[32];
  const uint16_t before = quant_group_q4(w, true, a);
  const unsigned saved = _mm_getcsr();
  _mm_setcsr(saved | 0x8040);
  uint16_t inside;
  {
    const MxcsrScope scope;
    inside = quant_group_q4(w, true, b);
  }
  _mm_setcsr(saved);
  EXPECT_EQ(before, inside);
  EXPECT_EQ(std::memcmp(a, b, 32), 0);
}

}  // namespace
}  // namespace nyb
