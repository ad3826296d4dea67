// gemv_blocks_test.cpp - the products of Q4_K and Q6_K against int64 sums (exactly) and double chains (within the bounds that
// gemv_test.cpp derives).
#include <gtest/gtest.h>

#include "kern/f16.h"
#include "kern/ref.h"
#include "ref/bits.h"
#include "ref/exact_fma.h"
#include "ref/panels.h"

namespace nyb::test {
namespace {

constexpr uint16_t kOne = 0x3c00;

struct Shape {
  size_t rows, groups;
};
constexpr Shape kShapes[] = {{16, 8}, {16, 16}, {48, 8}, {32, 24}};

template <class T>
std::vector<T> random_below(Random& rng, size_t n, size_t end) {
  std::vector<T> out(n);
  for (T& v : out) v = static_cast<T>(rng.below(end));
  return out;
}

// f16 below 1 of both signs, subnormals among them
std::vector<uint16_t> random_halves(Random& rng, size_t n) {
  std::vector<uint16_t> out(n);
  for (uint16_t& v : out) v = static_cast<uint16_t>(rng.below(kOne) | (rng.word() & 0x8000u));
  return out;
}

BlocksQ4k random_q4k(Random& rng, Shape s, bool ones) {
  const size_t n = s.rows * s.groups;
  BlocksQ4k m{random_ints(rng, 32 * n, 0, 15), random_halves(rng, n / 8), random_halves(rng, n / 8),
              random_below<uint8_t>(rng, n, 64), random_below<uint8_t>(rng, n, 64)};
  if (ones) m.d.assign(n / 8, kOne), m.dmin.assign(n / 8, kOne);
  return m;
}

BlocksQ6k random_q6k(Random& rng, Shape s, bool ones) {
  const size_t n = s.rows * s.groups;
  BlocksQ6k m{random_ints(rng, 32 * n, -32, 31), random_halves(rng, n / 8), random_ints(rng, 2 * n, -128, 127)};
  if (ones) m.d.assign(n / 8, kOne);
  return m;
}

// The sum of q * x over columns [from, to) of group i of all (row * groups + g).
int64_t exact_dot(const std::vector<int8_t>& q, const QxGroup& x, size_t i, size_t from, size_t to) {
  int64_t sum = 0;
  for (size_t c = from; c < to; ++c) sum += static_cast<int64_t>(q[i * 32 + c]) * x.q[c];
  return sum;
}

// I of Q6_K: both halves with their scales.
int64_t scaled_dot(const BlocksQ6k& m, const QxGroup& x, size_t i) {
  return m.scale[2 * i] * exact_dot(m.q, x, i, 0, 16) + m.scale[2 * i + 1] * exact_dot(m.q, x, i, 16, 32);
}

std::vector<float> times(const BlocksQ4k& m, Shape s, const std::vector<QxGroup>& x) {
  std::vector<float> y(s.rows);
  ref::gemv_q4k(panels_q4k(m, s.rows, s.groups).data(), x.data(), y.data(), s.groups, s.rows / 16);
  return y;
}
std::vector<float> times(const BlocksQ6k& m, Shape s, const std::vector<QxGroup>& x) {
  std::vector<float> y(s.rows);
  ref::gemv_q6k(panels_q6k(m, s.rows, s.groups).data(), x.data(), y.data(), s.groups, s.rows / 16);
  return y;
}

// With factors of 1 the chains only add integers, exactly while they stay below 2^24.
TEST(GemvBlocks, Q4kIsExactInIntegers) {
  Random rng(30);
  for (const Shape s : kShapes) {
    const BlocksQ4k m = random_q4k(rng, s, true);
    const auto x = random_groups(rng, s.groups, 1.0f);
    const std::vector<float> y = times(m, s, x);
    for (size_t r = 0; r < s.rows; ++r) {
      int64_t want = 0;
      for (size_t g = 0; g < s.groups; ++g) {
        const size_t i = r * s.groups + g;
        want += m.scale[i] * exact_dot(m.n, x[g], i, 0, 32) - m.min[i] * x[g].sum;
        ASSERT_LT(std::abs(want), 1 << 24);
      }
      ASSERT_EQ(static_cast<int64_t>(y[r]), want) << r;
    }
  }
}

TEST(GemvBlocks, Q6kIsExactInIntegers) {
  Random rng(31);
  for (const Shape s : kShapes) {
    const BlocksQ6k m = random_q6k(rng, s, true);
    const auto x = random_groups(rng, s.groups, 1.0f);
    const std::vector<float> y = times(m, s, x);
    for (size_t r = 0; r < s.rows; ++r) {
      int64_t want = 0;
      for (size_t g = 0; g < s.groups; ++g) {
        want += scaled_dot(m, x[g], r * s.groups + g);
        ASSERT_LT(std::abs(want), 1 << 24);
      }
      ASSERT_EQ(static_cast<int64_t>(y[r]), want) << r;
    }
  }
}

// The greatest that a group can have: 32 * 15 * 127 = 60,960 times 63, less 63 * 32 * 127; 2 * 128 * (16 * 32 * 127) = 16,646,144.
TEST(GemvBlocks, GroupsAtTheirExtremes) {
  const Shape s{16, 8};
  for (const int sign : {1, -1}) {
    int8_t all[32], none[32] = {};
    for (int8_t& v : all) v = static_cast<int8_t>(127 * sign);
    for (size_t at = 0; at < 8; ++at) {
      std::vector<QxGroup> x(8, group_of(none, 0.0f));
      x[at] = group_of(all, 1.0f);
      const std::vector<uint16_t> one(16, kOne);
      const BlocksQ4k k4{std::vector<int8_t>(16 * 256, 15), one, one, std::vector<uint8_t>(128, 63), std::vector<uint8_t>(128, 63)};
      for (const float v : times(k4, s, x)) EXPECT_EQ(v, static_cast<float>(sign * (60960 - 4064) * 63));
      const BlocksQ6k k6{std::vector<int8_t>(16 * 256, -32), one, std::vector<int8_t>(256, -128)};
      for (const float v : times(k6, s, x)) EXPECT_EQ(v, static_cast<float>(sign * 16646144));
    }
  }
}

// d * sc and dmin * m are exact; the factor of I is rounded once more.
TEST(GemvBlocks, Q4kIsNearDouble) {
  Random rng(32);
  for (const Shape s : kShapes) {
    const BlocksQ4k m = random_q4k(rng, s, false);
    const auto x = random_groups(rng, s.groups, 0);
    const std::vector<float> y = times(m, s, x);
    for (size_t r = 0; r < s.rows; ++r) {
      double want = 0;
      double size = 0;
      for (size_t g = 0; g < s.groups; ++g) {
        const size_t i = r * s.groups + g;
        const double scale = static_cast<double>(f16_to_f32(m.d[i / 8])) * m.scale[i];
        const double least = static_cast<double>(f16_to_f32(m.dmin[i / 8])) * m.min[i];
        const double a = static_cast<double>(exact_dot(m.n, x[g], i, 0, 32)) * scale * x[g].scale, b = least * x[g].xsum;
        want += a - b;
        size += std::fabs(a) + std::fabs(b);
      }
      ASSERT_NEAR(y[r], want, static_cast<double>(2 * s.groups + 1) * kHalfUlp * size * 1.001) << r;
    }
  }
}

TEST(GemvBlocks, Q6kIsNearDouble) {
  Random rng(33);
  for (const Shape s : kShapes) {
    const BlocksQ6k m = random_q6k(rng, s, false);
    const auto x = random_groups(rng, s.groups, 0);
    const std::vector<float> y = times(m, s, x);
    for (size_t r = 0; r < s.rows; ++r) {
      double want = 0;
      double size = 0;
      for (size_t g = 0; g < s.groups; ++g) {
        const size_t i = r * s.groups + g;
        const double term = static_cast<double>(scaled_dot(m, x[g], i)) * f16_to_f32(m.d[i / 8]) * x[g].scale;
        want += term;
        size += std::fabs(term);
      }
      ASSERT_NEAR(y[r], want, static_cast<double>(s.groups + 1) * kHalfUlp * size * 1.001) << r;
    }
  }
}

// Every operation by exact integers, in its order: what is rounded, and when.
TEST(GemvBlocks, OperationsAreSeparateAndInOrder) {
  Random rng(34);
  const auto product = [](float a, float b) { return exact_fma(a, b, 0.0f); };
  for (const Shape s : kShapes) {
    const BlocksQ4k k4 = random_q4k(rng, s, false);
    const BlocksQ6k k6 = random_q6k(rng, s, false);
    const auto x = random_groups(rng, s.groups, 0);
    const std::vector<float> y4 = times(k4, s, x), y6 = times(k6, s, x);
    for (size_t r = 0; r < s.rows; ++r) {
      float a4 = 0;
      float a6 = 0;
      for (size_t g = 0; g < s.groups; ++g) {
        const size_t i = r * s.groups + g;
        const float scale = product(f16_to_f32(k4.d[i / 8]), k4.scale[i]), least = product(f16_to_f32(k4.dmin[i / 8]), k4.min[i]);
        a4 = exact_fma(static_cast<float>(exact_dot(k4.n, x[g], i, 0, 32)), product(scale, x[g].scale), a4);
        a4 = exact_fma(-least, x[g].xsum, a4);
        a6 = exact_fma(static_cast<float>(scaled_dot(k6, x[g], i)), product(f16_to_f32(k6.d[i / 8]), x[g].scale), a6);
      }
      ASSERT_EQ(bits_of(y4[r]), bits_of(a4)) << r;
      ASSERT_EQ(bits_of(y6[r]), bits_of(a6)) << r;
    }
  }
}

}  // namespace
}  // namespace nyb::test
