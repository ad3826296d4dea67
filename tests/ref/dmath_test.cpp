// dmath_test.cpp - the deterministic double functions against libm in long double, whose 64 bits leave 11 to judge by.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "kern/dmath.h"

namespace nyb::test {
namespace {

// How far `got` is from `want`, in units of the last place of a double near `want`.
double ulps(double got, long double want) {
  const double w = std::fabs(static_cast<double>(want));
  const double place = std::nextafter(w, std::numeric_limits<double>::infinity()) - w;
  return static_cast<double>(std::fabs(static_cast<long double>(got) - want) / static_cast<long double>(place));
}

class Draw {
 public:
  explicit Draw(uint64_t seed) : gen_(seed) {}
  double unit() { return static_cast<double>(gen_() >> 11) * 0x1p-53; }
  double between(double low, double high) { return low + (high - low) * unit(); }
  int below(int n) { return static_cast<int>(gen_() % static_cast<uint64_t>(n)); }

 private:
  std::mt19937_64 gen_;
};

constexpr double kSincosUlps = 0.80;  // measured 0.787; the bits of the result stand fixed in SincosBits
constexpr double kExactUlps = 0.501;  // the double nearest to the true value, but for ties that long double cannot tell

void expect_sincos(double angle) {
  const SinCos r = det_sincos(angle);
  ASSERT_LE(ulps(r.sin, std::sin(static_cast<long double>(angle))), kSincosUlps) << "sine of " << angle;
  ASSERT_LE(ulps(r.cos, std::cos(static_cast<long double>(angle))), kSincosUlps) << "cosine of " << angle;
}

TEST(DetSincos, EveryMagnitude) {
  Draw draw(50);
  for (int exponent = -40; exponent <= 29; ++exponent)
    for (int i = 0; i < 5000; ++i) expect_sincos(std::ldexp(draw.between(-2.0, 2.0), exponent));
}

// Angles as near to a multiple of pi/2 as a double can be: all of the value is what cancellation leaves.
TEST(DetSincos, NearMultiplesOfHalfPi) {
  Draw draw(51);
  constexpr long double half_pi = 1.5707963267948966192313216916397514L;
  for (int i = 0; i < 100000; ++i) {
    const int bits = 1 + draw.below(29);
    const auto k = static_cast<long double>(draw.below(1 << bits));
    const auto angle = static_cast<double>(k * half_pi);
    expect_sincos(angle);
    expect_sincos(-std::nextafter(angle, 2e9));
  }
}

// The doubles up to 2^30 that come nearest, found by trying every multiple: 2^-61 to 2^-55 away from one.
TEST(DetSincos, TheNearestOfAll) {
  for (const double angle : {0x1.6c6cbc45dc8dep+5, 0x1.6c6cbc45dc8dep+6, 0x1.6c6cbc45dc8dep+7, 0x1.b951f1572eba5p+23,
                             0x1.b951f1572eba5p+24, 0x1.b951f1572eba5p+25, 0x1.b951f1572eba5p+26, 0x1.b951f1572eba5p+27}) {
    expect_sincos(angle);
    expect_sincos(-angle);
  }
}

TEST(DetSincos, PositionsTimesFrequencies) {
  for (int i = 0; i < 32; ++i)
    for (int position = 0; position < 131072; position += 619) expect_sincos(position * det_pow(10000.0, -2.0 * i / 64));
}

TEST(DetSincos, TheEndsOfTheRange) {
  expect_sincos(1073741824.0);
  expect_sincos(-1073741824.0);
  EXPECT_EQ(det_sincos(0.0).sin, 0.0);
  EXPECT_EQ(det_sincos(0.0).cos, 1.0);
  EXPECT_EQ(det_sincos(1e-300).sin, 1e-300);
  for (const double bad : {1073741825.0, -1e300, std::numeric_limits<double>::infinity(), std::nan("")}) {
    EXPECT_TRUE(std::isnan(det_sincos(bad).sin)) << bad;
    EXPECT_TRUE(std::isnan(det_sincos(bad).cos)) << bad;
  }
}

TEST(DetExp, IsTheNearestDouble) {
  Draw draw(52);
  for (int i = 0; i < 50000; ++i) {
    const double x = i % 2 ? draw.between(-700.0, 700.0) : std::ldexp(draw.between(-1.0, 1.0), -draw.below(60));
    ASSERT_LE(ulps(det_exp(x), std::exp(static_cast<long double>(x))), kExactUlps) << x;
  }
  EXPECT_EQ(det_exp(0.0), 1.0);
  EXPECT_EQ(det_exp(1.0), 2.718281828459045);
  EXPECT_EQ(det_exp(-800.0), 0.0);
  EXPECT_TRUE(std::isinf(det_exp(800.0)));
  EXPECT_TRUE(std::isnan(det_exp(std::nan(""))));
}

TEST(DetLog, IsTheNearestDouble) {
  Draw draw(53);
  for (int i = 0; i < 50000; ++i) {
    double x = std::ldexp(draw.between(1.0, 2.0), draw.below(2000) - 1000);
    if (i % 3 == 0) x = 1.0 + std::ldexp(draw.between(-1.0, 1.0), -1 - draw.below(50));  // where the value itself is small
    ASSERT_LE(ulps(det_log(x), std::log(static_cast<long double>(x))), kExactUlps) << x;
  }
  EXPECT_EQ(det_log(1.0), 0.0);
  EXPECT_EQ(det_log(2.0), 0.6931471805599453);
}

TEST(DetPow, FrequenciesOfRope) {
  for (const double base : {10000.0, 500000.0, 1000000.0, 8000000.0, 150000.0}) {
    for (const int dim : {48, 64, 80, 128, 256}) {
      for (int i = 0; i < dim / 2; ++i) {
        const double e = -2.0 * i / dim;
        ASSERT_LE(ulps(det_pow(base, e), std::pow(static_cast<long double>(base), static_cast<long double>(e))), kExactUlps)
            << base << " to the " << e;
      }
    }
  }
}

TEST(DetPow, IsTheNearestDouble) {
  Draw draw(54);
  for (int i = 0; i < 50000; ++i) {
    const double base = det_exp(draw.between(-20.0, 20.0));
    const double e = draw.between(-30.0, 30.0);
    const long double want = std::pow(static_cast<long double>(base), static_cast<long double>(e));
    // powl itself is good to an ulp of long double, 2^-11 of ours
    ASSERT_LE(ulps(det_pow(base, e), want), kExactUlps) << base << " to the " << e;
  }
  for (int i = -20; i <= 20; ++i) EXPECT_EQ(det_pow(2.0, i), std::ldexp(1.0, i));
  EXPECT_EQ(det_pow(10.0, 3.0), 1000.0);
  EXPECT_EQ(det_pow(10000.0, 0.0), 1.0);
  EXPECT_EQ(det_pow(1.0, 1e300), 1.0);
  EXPECT_EQ(det_pow(10.0, -1e6), 0.0);
  EXPECT_TRUE(std::isinf(det_pow(10.0, 1e6)));
  EXPECT_TRUE(std::isnan(det_pow(10.0, std::nan(""))));
}

// Some bits, so that a build that rounds otherwise (another compiler's contraction, an x87 unit) is seen at once.
TEST(DetMath, Bits) {
  EXPECT_EQ(std::bit_cast<uint64_t>(det_sincos(1.0).sin), std::bit_cast<uint64_t>(0x1.aed548f090ceep-1));
  EXPECT_EQ(std::bit_cast<uint64_t>(det_sincos(1.0).cos), std::bit_cast<uint64_t>(0x1.14a280fb5068cp-1));
  uint64_t hash = 0;
  for (int i = 0; i < 20000; ++i) {
    const SinCos r = det_sincos(i * 0.7310585786300049 - 3000.0);
    for (const double v : {r.sin, r.cos, det_pow(10000.0, -i / 20000.0)})
      hash = (hash ^ std::bit_cast<uint64_t>(v)) * 0x9e3779b97f4a7c15u;
  }
  EXPECT_EQ(hash, 0x82bb52d747b65e0eu);
}

}  // namespace
}  // namespace nyb::test
