// qx_test.cpp - activations to int8 groups: the rule of docs/numerics.md worked out in double and int64.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <limits>
#include <vector>

#include "kern/ref.h"
#include "ref/bits.h"

namespace nyb::test {
namespace {

constexpr float kLeast = 3.7322e-37f;  // below it 127 / amax is no float

std::vector<QxGroup> quantized(const std::vector<float>& x) {
  std::vector<QxGroup> out((x.size() + 31) / 32);
  EXPECT_EQ(ref::qx_vec(x.data(), out.data(), x.size()), 0u);
  return out;
}

// Ties to even by comparing distances, not by adding a constant.
int64_t nearest(double v) {
  const double low = std::floor(v);
  const double above = v - low;
  const auto n = static_cast<int64_t>(low);
  if (above > 0.5 || (above == 0.5 && n % 2 != 0)) return n + 1;
  return n;
}

// One group against the rule. A quotient or a product of floats is rounded rightly by way of double: its 53 bits are more than
// 2 * 24 + 1.
void expect_group(const float* x, size_t n, const QxGroup& g) {
  double amax = 0;
  for (size_t i = 0; i < n; ++i) amax = std::max(amax, std::fabs(static_cast<double>(x[i])));
  if (amax < kLeast) {
    static_assert(sizeof(QxGroup) == 48, "no padding: all bytes are compared");
    const auto bytes = std::bit_cast<std::array<uint8_t, sizeof(QxGroup)>>(g);
    EXPECT_EQ(bytes, decltype(bytes){}) << "amax " << amax;
    return;
  }
  ASSERT_EQ(bits_of(g.scale), bits_of(static_cast<float>(amax / 127.0)));
  const auto inv = static_cast<float>(127.0 / amax);
  ASSERT_TRUE(std::isfinite(inv));
  int64_t sum = 0;
  int64_t sum_hi = 0;
  for (size_t i = 0; i < 32; ++i) {
    const double v = i < n ? x[i] : 0.0;
    ASSERT_EQ(g.q[i], nearest(static_cast<float>(v * inv))) << i << ": " << v << " of " << amax;
    ASSERT_LE(std::abs(g.q[i]), 127);
    // What the group stands for is within half a step of x, and a little for the roundings of scale, inv and product.
    ASSERT_LE(std::fabs(g.q[i] * static_cast<double>(g.scale) - v), amax / 127.0 * 0.50004) << i;
    sum += g.q[i];
    if (i >= 16) sum_hi += g.q[i];
  }
  EXPECT_EQ(g.sum, sum);
  EXPECT_EQ(g.sum_hi, sum_hi);
  EXPECT_EQ(bits_of(g.xsum), bits_of(static_cast<float>(static_cast<double>(sum) * g.scale)));
}

void expect_rule(const std::vector<float>& x) {
  const std::vector<QxGroup> out = quantized(x);
  for (size_t g = 0; g < out.size(); ++g) expect_group(x.data() + 32 * g, std::min<size_t>(32, x.size() - 32 * g), out[g]);
}

TEST(QxVec, FollowsTheRuleAtEveryMagnitude) {
  Random rng(10);
  for (int exponent = -126; exponent <= 126; ++exponent) {
    std::vector<float> x(256);
    for (float& v : x) v = std::ldexp(rng.normal() * 0.2f, exponent);
    expect_rule(x);
  }
}

TEST(QxVec, FollowsTheRuleOnOutliers) {
  Random rng(11);
  for (int i = 0; i < 500; ++i) {
    std::vector<float> x(32);
    for (float& v : x) v = rng.normal();
    x[rng.below(32)] = std::ldexp(rng.normal(), static_cast<int>(rng.below(120)));
    expect_rule(x);
  }
}

// Exactly halfway between two integers: amax 127 makes scale and inv 1.
TEST(QxVec, RoundsTiesToEven) {
  std::vector<float> x(32, 0.0f);
  x[0] = 127.0f;
  for (int i = 1; i < 32; ++i) x[static_cast<size_t>(i)] = static_cast<float>(i) * (i % 2 ? 1.0f : -1.0f) + 0.5f;
  expect_rule(x);
  const QxGroup g = quantized(x)[0];
  EXPECT_EQ(g.q[1], 2);   // 1.5
  EXPECT_EQ(g.q[2], -2);  // -1.5
  EXPECT_EQ(g.q[4], -4);  // -3.5
  EXPECT_EQ(g.q[5], 6);   // 5.5
}

TEST(QxVec, PadsTheLastGroupWithZeros) {
  Random rng(12);
  for (size_t n = 0; n <= 100; ++n) {
    std::vector<float> x(n);
    for (float& v : x) v = rng.normal() + 3.0f;
    expect_rule(x);
    std::vector<float> padded = x;
    padded.resize((n + 31) / 32 * 32, 0.0f);
    const auto a = quantized(x);
    const auto b = quantized(padded);
    ASSERT_EQ(a.size(), b.size());
    if (!a.empty()) { ASSERT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(QxGroup)), 0) << n; }
  }
}

TEST(QxVec, AGroupTooSmallIsZero) {
  for (const float amax : {0.0f, 0x1p-149f, 0x1p-126f, std::nextafter(kLeast, 0.0f), kLeast, std::nextafter(kLeast, 1.0f)})
    for (const float sign : {1.0f, -1.0f}) expect_rule(std::vector<float>(32, sign * amax));
  EXPECT_EQ(quantized({std::nextafter(kLeast, 0.0f)})[0].scale, 0.0f);
  EXPECT_EQ(quantized({kLeast})[0].q[0], 127);
}

// The greatest magnitude becomes 127 or -127 whatever its significand: every one of them, at both ends and the middle of the
// range of exponents (2^-121 is just above the least amax).
TEST(QxVec, NeverLeavesPlusMinus127) {
  constexpr uint32_t step =
#ifdef __OPTIMIZE__
      1;
#else
      61;
#endif
  for (const uint32_t exponent : {6u << 23, 127u << 23, 254u << 23}) {
    for (uint32_t fraction = 0; fraction < 1u << 23; fraction += (exponent == 127u << 23) ? step : 31 * step) {
      const float amax = from_bits(exponent | fraction);
      const float x[2] = {amax, -amax};
      QxGroup g;
      ASSERT_EQ(ref::qx_vec(x, &g, 2), 0u);
      ASSERT_EQ(g.q[0], 127) << amax;
      ASSERT_EQ(g.q[1], -127) << amax;
      ASSERT_EQ(g.sum, 0);
    }
  }
}

TEST(QxVec, RefusesWhatIsNotFinite) {
  for (const uint32_t bad : {0x7f800000u, 0xff800000u, 0x7fc00000u, 0xffc00000u, 0x7f800001u, 0xffffffffu}) {
    for (const size_t n : {size_t{1}, size_t{31}, size_t{32}, size_t{33}, size_t{80}}) {
      for (size_t at = 0; at < n; ++at) {
        std::vector<float> x(n, 1.0f);
        std::vector<QxGroup> out((n + 31) / 32);
        x[at] = from_bits(bad);
        ASSERT_EQ(ref::qx_vec(x.data(), out.data(), n), 1u) << n << " " << at;
      }
    }
  }
  const float top = std::numeric_limits<float>::max();
  expect_rule({top, -top, 1.0f, top / 2});
}

}  // namespace
}  // namespace nyb::test
