// f16_test.cpp - the half formats: every half, and every midpoint between two, against arithmetic in double.
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "kern/cpu.h"
#include "kern/f16.h"
#include "kern/ref.h"
#include "ref/bits.h"

namespace nyb::test {
namespace {

// What the 16 bits mean, by the standard's formula.
double value_of(uint16_t h) {
  const int exponent = (h >> 10) & 31;
  const int fraction = h & 1023;
  const double sign = (h & 0x8000) ? -1.0 : 1.0;
  if (exponent == 31) return fraction ? std::nan("") : sign * std::numeric_limits<double>::infinity();
  return sign * (exponent ? std::ldexp(1024 + fraction, exponent - 25) : std::ldexp(fraction, -24));
}

// The nearest half by counting quanta: the spacing at |f| is 2^-24 below 2^-14, else 2^(e - 10); ties to the even count.
uint16_t nearest_half(float f) {
  const uint16_t sign = std::signbit(f) ? 0x8000 : 0;
  const double v = std::fabs(static_cast<double>(f));
  if (std::isnan(f)) return sign | 0x7e00;
  if (std::isinf(f)) return sign | 0x7c00;
  int exponent = -14;
  while (exponent < 127 && v >= std::ldexp(1.0, exponent + 1)) ++exponent;
  const double quanta = std::ldexp(v, 10 - exponent);
  auto count = static_cast<int64_t>(quanta);
  const double rest = quanta - static_cast<double>(count);
  if (rest > 0.5 || (rest == 0.5 && count % 2)) ++count;
  if (std::ldexp(static_cast<double>(count), exponent - 10) >= 65536.0) return sign | 0x7c00;
  // Consecutive halves have consecutive codes: 1024 counts an exponent.
  return static_cast<uint16_t>(sign | (static_cast<int64_t>(exponent + 14) * 1024 + count));
}

bool nan_half(uint16_t h) { return (h & 0x7c00) == 0x7c00 && (h & 0x3ff) != 0; }

TEST(F16, EveryHalfIsItsValueAndComesBack) {
  for (uint32_t i = 0; i < 65536; ++i) {
    const auto h = static_cast<uint16_t>(i);
    const float f = f16_to_f32(h);
    if (nan_half(h)) {
      ASSERT_TRUE(std::isnan(f)) << i;
      ASSERT_EQ(std::signbit(f), (h & 0x8000) != 0);
      ASSERT_EQ(f32_to_f16(f), h | 0x200) << i;  // quiet
      continue;
    }
    ASSERT_EQ(static_cast<double>(f), value_of(h)) << i;
    ASSERT_EQ(std::signbit(f), (h & 0x8000) != 0) << i;
    ASSERT_EQ(f32_to_f16(f), h) << i;
  }
}

TEST(F16, MidpointsGoToEvenAndTheirNeighboursDoNot) {
  for (uint32_t i = 0; i < 0x7c00; ++i) {
    const auto low = static_cast<uint16_t>(i);
    const double next = i + 1 == 0x7c00 ? 65536.0 : value_of(static_cast<uint16_t>(i + 1));
    const auto middle = static_cast<float>((value_of(low) + next) / 2);  // exact: one bit more than a half has
    for (const float sign : {1.0f, -1.0f}) {
      const uint16_t s = sign < 0 ? 0x8000 : 0;
      ASSERT_EQ(f32_to_f16(sign * middle), s | (i + (i & 1))) << i;
      ASSERT_EQ(f32_to_f16(sign * std::nextafter(middle, 0.0f)), s | i) << i;
      ASSERT_EQ(f32_to_f16(sign * std::nextafter(middle, 1e30f)), s | (i + 1)) << i;
    }
  }
}

TEST(F16, NearestOverADenseSample) {
  for (uint64_t b = 0; b < uint64_t{1} << 32; b += 997) {
    const float f = from_bits(static_cast<uint32_t>(b));
    const uint16_t h = f32_to_f16(f);
    if (std::isnan(f)) {
      ASSERT_TRUE(nan_half(h)) << b;
      continue;
    }
    ASSERT_EQ(h, nearest_half(f)) << f;
  }
}

TEST(F16, TheKernelFlagsWhatIsNotFinite) {
  std::vector<float> x(50, 1.5f);
  std::vector<uint16_t> y(50);
  EXPECT_EQ(ref::f32_to_f16(x.data(), y.data(), 50), 0u);
  for (const uint16_t h : y) EXPECT_EQ(h, 0x3e00);
  x[20] = 65519.996f;  // the greatest float that still rounds to 65504
  EXPECT_EQ(ref::f32_to_f16(x.data(), y.data(), 50), 0u);
  for (const float bad : {65520.0f, -65520.0f, 1e30f, std::numeric_limits<float>::infinity(), std::nanf("")}) {
    for (const size_t at : {0u, 20u, 49u}) {
      std::vector<float> z(50, 1.5f);
      z[at] = bad;
      EXPECT_EQ(ref::f32_to_f16(z.data(), y.data(), 50), 1u) << bad;
      EXPECT_EQ(y[at], f32_to_f16(bad)) << "the other results are written all the same";
      EXPECT_EQ(y[(at + 1) % 50], 0x3e00);
    }
  }
}

bool has_f16c() { return cpu_here().f16c && cpu_here().avx && cpu_here().os_ymm; }

float hardware_f16_to_f32(uint16_t h) {
  float out;
  __asm__("vmovd %1, %0\n\tvcvtph2ps %0, %0" : "=x"(out) : "r"(static_cast<uint32_t>(h)));
  return out;
}

uint16_t hardware_f32_to_f16(float f) {
  uint32_t out;
  __asm__("vcvtps2ph $0, %1, %1\n\tvmovd %1, %0" : "=r"(out), "+x"(f));
  return static_cast<uint16_t>(out);
}

// Bits, those of NaN too.
TEST(F16, EqualsTheInstructions) {
  if (!has_f16c()) GTEST_SKIP() << "this CPU lacks F16C";
  for (uint32_t i = 0; i < 65536; ++i) {
    const auto h = static_cast<uint16_t>(i);
    ASSERT_EQ(bits_of(f16_to_f32(h)), bits_of(hardware_f16_to_f32(h))) << i;
  }
  for (uint64_t b = 0; b < uint64_t{1} << 32; b += 251) {
    const float f = from_bits(static_cast<uint32_t>(b));
    ASSERT_EQ(f32_to_f16(f), hardware_f32_to_f16(f)) << b;
  }
}

TEST(Bf16, IsTheUpperHalfOfAFloat) {
  for (uint32_t i = 0; i < 65536; ++i) ASSERT_EQ(bits_of(bf16_to_f32(static_cast<uint16_t>(i))), i << 16);
}

}  // namespace
}  // namespace nyb::test
