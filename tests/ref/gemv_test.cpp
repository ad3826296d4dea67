// gemv_test.cpp - matrix-vector products against int64 sums (exactly) and double chains (within derived bounds).
//
// The bounds: a chain of G fused additions is off by at most G u (|t_0| + ... + |t_G-1|) / (1 - G u), t_i its terms and u half an
// ulp of 1; each rounding of a term itself, or of the final product, adds one u. (Higham, Accuracy and Stability, 3.1.)
#include <gtest/gtest.h>

#include <cstring>

#include "kern/f16.h"
#include "kern/ref.h"
#include "ref/bits.h"
#include "ref/panels.h"

namespace nyb::test {
namespace {

struct Shape {
  size_t rows, groups;
};
constexpr Shape kShapes[] = {{16, 1}, {16, 2}, {16, 7}, {48, 3}, {32, 24}, {16, 64}};

int64_t exact_dot(const std::vector<int8_t>& q, const std::vector<QxGroup>& x, size_t row, size_t g) {
  int64_t sum = 0;
  for (size_t i = 0; i < 32; ++i) sum += static_cast<int64_t>(q[(row * x.size() + g) * 32 + i]) * x[g].q[i];
  return sum;
}

// With all scales 1 the chain only adds integers, exactly while they stay below 2^24, so the answer is an int64.
TEST(Gemv, Q8IsExactInIntegers) {
  Random rng(20);
  for (const Shape s : kShapes) {
    const auto q = random_ints(rng, s.rows * s.groups * 32, -128, 127);
    const auto x = random_groups(rng, s.groups, 1.0f);
    const auto w = panels_q8(q, s.rows, s.groups);
    const std::vector<float> one(s.rows, 1.0f);
    std::vector<float> y(s.rows);
    ref::gemv_q8(w.data(), one.data(), x.data(), y.data(), s.groups, s.rows / 16);
    for (size_t r = 0; r < s.rows; ++r) {
      int64_t want = 0;
      for (size_t g = 0; g < s.groups; ++g) want += exact_dot(q, x, r, g);
      ASSERT_LT(std::abs(want), 1 << 24);
      ASSERT_EQ(static_cast<int64_t>(y[r]), want) << r;
    }
  }
}

TEST(Gemv, Q4IsExactInIntegers) {
  Random rng(21);
  for (const Shape s : kShapes) {
    const auto q = random_ints(rng, s.rows * s.groups * 32, -8, 7);
    const auto x = random_groups(rng, s.groups, 1.0f);
    const auto w = panels_q4(q, std::vector<uint16_t>(s.rows * s.groups, 0x3c00), s.rows, s.groups);
    std::vector<float> y(s.rows);
    ref::gemv_q4(w.data(), x.data(), y.data(), s.groups, s.rows / 16);
    for (size_t r = 0; r < s.rows; ++r) {
      int64_t want = 0;
      for (size_t g = 0; g < s.groups; ++g) want += exact_dot(q, x, r, g);
      ASSERT_EQ(static_cast<int64_t>(y[r]), want) << r;
    }
  }
}

TEST(Gemv, Q80IsExactInIntegers) {
  Random rng(26);
  for (const Shape s : kShapes) {
    const auto q = random_ints(rng, s.rows * s.groups * 32, -128, 127);
    const auto x = random_groups(rng, s.groups, 1.0f);
    const auto w = panels_q80(q, std::vector<uint16_t>(s.rows * s.groups, 0x3c00), s.rows, s.groups);
    std::vector<float> y(s.rows);
    ref::gemv_q80(w.data(), x.data(), y.data(), s.groups, s.rows / 16);
    for (size_t r = 0; r < s.rows; ++r) {
      int64_t want = 0;
      for (size_t g = 0; g < s.groups; ++g) want += exact_dot(q, x, r, g);
      ASSERT_LT(std::abs(want), 1 << 24);
      ASSERT_EQ(static_cast<int64_t>(y[r]), want) << r;
    }
  }
}

// The greatest sums that a group can have: 32 * 128 * 127 in int8, 32 * 8 * 127 in int4.
TEST(Gemv, GroupsAtTheirExtremes) {
  for (const int sign : {1, -1}) {
    int8_t xq[32];
    for (int8_t& v : xq) v = static_cast<int8_t>(127 * sign);
    const std::vector<QxGroup> x = {group_of(xq, 1.0f)};
    const std::vector<float> one(16, 1.0f);
    std::vector<float> y(16);
    const auto w8 = panels_q8(std::vector<int8_t>(512, -128), 16, 1);
    ref::gemv_q8(w8.data(), one.data(), x.data(), y.data(), 1, 1);
    for (const float v : y) EXPECT_EQ(v, static_cast<float>(-520192 * sign));
    const auto w80 = panels_q80(std::vector<int8_t>(512, -128), std::vector<uint16_t>(16, 0x3c00), 16, 1);
    ref::gemv_q80(w80.data(), x.data(), y.data(), 1, 1);
    for (const float v : y) EXPECT_EQ(v, static_cast<float>(-520192 * sign));
    const auto w4 = panels_q4(std::vector<int8_t>(512, -8), std::vector<uint16_t>(16, 0x3c00), 16, 1);
    ref::gemv_q4(w4.data(), x.data(), y.data(), 1, 1);
    for (const float v : y) EXPECT_EQ(v, static_cast<float>(-32512 * sign));
  }
}

TEST(Gemv, Q8IsNearDouble) {
  Random rng(22);
  for (const Shape s : kShapes) {
    const auto q = random_ints(rng, s.rows * s.groups * 32, -127, 127);
    const auto x = random_groups(rng, s.groups, 0);
    const auto w = panels_q8(q, s.rows, s.groups);
    std::vector<float> scale(s.rows), y(s.rows);
    for (float& v : scale) v = std::fabs(rng.normal()) * 0.02f + 1e-5f;
    ref::gemv_q8(w.data(), scale.data(), x.data(), y.data(), s.groups, s.rows / 16);
    for (size_t r = 0; r < s.rows; ++r) {
      double want = 0;
      double size = 0;
      for (size_t g = 0; g < s.groups; ++g) {
        const double term = static_cast<double>(exact_dot(q, x, r, g)) * x[g].scale * scale[r];
        want += term;
        size += std::fabs(term);
      }
      ASSERT_NEAR(y[r], want, static_cast<double>(s.groups + 1) * kHalfUlp * size * 1.001) << r;
    }
  }
}

// Both types with a scale for each row and group.
template <class Layout, class Kernel>
void scaled_groups_are_near_double(uint64_t seed, int low, int high, const Layout& layout, const Kernel& kernel) {
  Random rng(seed);
  for (const Shape s : kShapes) {
    const auto q = random_ints(rng, s.rows * s.groups * 32, low, high);
    const auto x = random_groups(rng, s.groups, 0);
    std::vector<uint16_t> scales(s.rows * s.groups);
    for (uint16_t& v : scales) v = static_cast<uint16_t>(rng.below(0x3c00) | (rng.word() & 0x8000u));  // subnormals and both signs
    const auto w = layout(q, scales, s.rows, s.groups);
    std::vector<float> y(s.rows);
    kernel(w.data(), x.data(), y.data(), s.groups, s.rows / 16);
    for (size_t r = 0; r < s.rows; ++r) {
      double want = 0;
      double size = 0;
      for (size_t g = 0; g < s.groups; ++g) {
        const double term = static_cast<double>(exact_dot(q, x, r, g)) * f16_to_f32(scales[r * s.groups + g]) * x[g].scale;
        want += term;
        size += std::fabs(term);
      }
      ASSERT_NEAR(y[r], want, static_cast<double>(s.groups + 2) * kHalfUlp * size * 1.001) << r;
    }
  }
}

TEST(Gemv, Q4IsNearDouble) { scaled_groups_are_near_double(23, -8, 7, panels_q4, ref::gemv_q4); }
TEST(Gemv, Q80IsNearDouble) { scaled_groups_are_near_double(27, -128, 127, panels_q80, ref::gemv_q80); }

TEST(Gemv, F32IsNearDouble) {
  Random rng(24);
  for (const size_t cols : {0u, 1u, 2u, 31u, 172u, 500u}) {
    for (const size_t rows : {16u, 48u}) {
      std::vector<float> w(rows * cols), x(cols), y(rows);
      for (float& v : w) v = rng.normal();
      for (float& v : x) v = rng.normal();
      const auto panels = panels_f32(w, rows, cols);
      ref::gemv_f32(panels.data(), x.data(), y.data(), cols, rows / 16);
      for (size_t r = 0; r < rows; ++r) {
        double want = 0;
        double size = 0;
        for (size_t k = 0; k < cols; ++k) {
          const double term = static_cast<double>(w[r * cols + k]) * x[k];
          want += term;
          size += std::fabs(term);
        }
        ASSERT_NEAR(y[r], want, static_cast<double>(cols) * kHalfUlp * size * 1.001) << r << " of " << cols << " columns";
      }
    }
  }
}

// The chain runs upwards from +0: an order that a sum in double cannot see, shown by terms that swallow each other.
TEST(Gemv, ChainsRunUpwards) {
  std::vector<float> w(48);
  std::vector<float> x(3, 1.0f);
  std::vector<float> y(16);
  for (size_t r = 0; r < 16; ++r) {
    w[3 * r] = 0x1p24f;
    w[3 * r + 1] = 1.0f;  // lost: 2^24 + 1 is a tie, to the even 2^24
    w[3 * r + 2] = -0x1p24f;
  }
  const auto panels = panels_f32(w, 16, 3);
  ref::gemv_f32(panels.data(), x.data(), y.data(), 3, 1);
  for (const float v : y) EXPECT_EQ(v, 0.0f);
  w[1] = -0x1p24f;
  w[2] = 1.0f;
  const auto swapped = panels_f32(w, 16, 3);
  ref::gemv_f32(swapped.data(), x.data(), y.data(), 3, 1);
  EXPECT_EQ(y[0], 1.0f);
  EXPECT_EQ(y[1], 0.0f);
}

// y = acc * rowscale and wscale * xscale are single operations of their own, not folded into the chain.
TEST(Gemv, ScalesAreSeparateOperations) {
  Random rng(25);
  const auto q8 = random_ints(rng, 512, -127, 127);
  const auto q4 = random_ints(rng, 512, -8, 7);
  const auto x = random_groups(rng, 1, 0.0123f);
  std::vector<float> scale(16), y(16);
  for (float& v : scale) v = rng.uniform(0.001f, 0.1f);
  const auto w8 = panels_q8(q8, 16, 1);
  ref::gemv_q8(w8.data(), scale.data(), x.data(), y.data(), 1, 1);
  for (size_t r = 0; r < 16; ++r) {
    const auto acc = static_cast<float>(static_cast<double>(exact_dot(q8, x, r, 0)) * x[0].scale);
    ASSERT_EQ(bits_of(y[r]), bits_of(static_cast<float>(static_cast<double>(acc) * scale[r])));
  }
  const std::vector<uint16_t> tenth(16, 0x2e66);  // 0.1 in f16
  const auto both = static_cast<float>(static_cast<double>(f16_to_f32(0x2e66)) * x[0].scale);
  const auto w4 = panels_q4(q4, tenth, 16, 1);
  ref::gemv_q4(w4.data(), x.data(), y.data(), 1, 1);
  for (size_t r = 0; r < 16; ++r)
    ASSERT_EQ(bits_of(y[r]), bits_of(static_cast<float>(static_cast<double>(exact_dot(q4, x, r, 0)) * both)));
  const auto w80 = panels_q80(q8, tenth, 16, 1);
  ref::gemv_q80(w80.data(), x.data(), y.data(), 1, 1);
  for (size_t r = 0; r < 16; ++r)
    ASSERT_EQ(bits_of(y[r]), bits_of(static_cast<float>(static_cast<double>(exact_dot(q8, x, r, 0)) * both)));
}

}  // namespace
}  // namespace nyb::test
