// exp8_test.cpp - exp8 over the floats of -88.5..88.5, against libm's double exponential.
//
// The floats of at least 2^-63 in magnitude are tried one and all. Below that the square of the argument leaves the normal
// range and many CPUs become ten times slower, while the result can only be 1: one float in 97 is tried, or all of them
// if NYBBLE_EVERY_FLOAT is set. Builds that are slow by nature (sanitizers, no optimization) thin out both.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <thread>
#include <vector>

#include "kern/ref.h"
#include "ref/bits.h"
#include "ref/exact_fma.h"
#include "support/build.h"

namespace nyb::test {
namespace {

constexpr uint32_t kThin = kSlowBuild ? 128 : 1;

constexpr uint32_t kSignBit = 0x80000000u;
constexpr uint32_t kLimitBits = 0x42b10000u;  // 88.5
constexpr uint32_t kSmallBits = 0x20000000u;  // 2^-63
constexpr uint32_t kBlock = 1u << 20;

struct Worst {
  double error = 0;
  float at = 0;
  float greatest = 0;
  float not_monotone = 0;    // an argument whose result steps back; 0: none
  float first_positive = 0;  // of the negative arguments: the least whose result is not 0
  void take(const Worst& o) {
    if (o.error > error) error = o.error, at = o.at;
    greatest = std::max(greatest, o.greatest);
    if (o.not_monotone != 0) not_monotone = o.not_monotone;
    first_positive = std::min(first_positive, o.first_positive);
  }
};

// Consecutive magnitudes [first, last) of one sign. libm is asked once in 1024 floats, and between them its value is carried on by
// Taylor's series in the distance, at most 0.0079: the fifth term is below 3e-13 of the value.
Worst try_range(uint32_t first, uint32_t last, uint32_t sign, uint32_t step) {
  Worst out;
  double anchor = 0;
  double anchor_exp = 1;
  uint32_t next_anchor = first;
  float before = ref::exp8(from_bits(sign | (first > 0 ? first - 1 : 0)));
  for (uint32_t m = first; m < last; m += step) {
    const float x = from_bits(sign | m);
    if (m >= next_anchor) {
      anchor = x;
      anchor_exp = std::exp(anchor);
      next_anchor = m + 1024;
    }
    const float y = ref::exp8(x);
    if (sign ? y > before : y < before) out.not_monotone = x;
    before = y;
    out.greatest = std::max(out.greatest, y);
    if (sign && y != 0) out.first_positive = std::min(out.first_positive, x);
    if (x < -87.0f || x > 88.0f) continue;
    const double d = x - anchor;
    const double want = anchor_exp * (1 + d * (1 + d * (0.5 + d * (1.0 / 6 + d * (1.0 / 24)))));
    const double off = std::fabs(y - want);
    if (off > out.error * want) out.error = off / want, out.at = x;
  }
  return out;
}

Worst try_all(uint32_t first, uint32_t last, uint32_t step) {
  Worst out;
  std::mutex lock;
  std::atomic<uint32_t> next{0};
  const uint32_t blocks = (last - first + kBlock - 1) / kBlock;
  const auto work = [&] {
    for (uint32_t i = next++; i < 2 * blocks; i = next++) {
      const uint32_t from = first + i / 2 * kBlock;
      const Worst w = try_range(from, std::min(from + kBlock, last), (i & 1) ? kSignBit : 0, step);
      const std::lock_guard hold(lock);
      out.take(w);
    }
  };
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < std::clamp(std::thread::hardware_concurrency(), 1u, 16u); ++t) threads.emplace_back(work);
  for (std::thread& t : threads) t.join();
  return out;
}

// docs/numerics.md states the first two figures.
TEST(Exp8, EveryFloatOfItsRange) {
  const Worst w = try_all(kSmallBits, kLimitBits + 1, kThin);
  RecordProperty("greatest_relative_error", std::to_string(w.error * 1e9) + "e-9");
  EXPECT_LE(w.error, 8.5e-8) << "at " << w.at;
  EXPECT_GE(w.error, kThin == 1 ? 8.4e-8 : 7e-8) << "the measurement saw too little";
  EXPECT_EQ(w.not_monotone, 0.0f);
  EXPECT_LE(w.greatest, 2.4062e38f);
  EXPECT_GE(w.greatest, 2.406e38f);
  if (kThin == 1) { EXPECT_EQ(w.first_positive, std::nextafter(-87.6831284f, 0.0f)); }
}

// The formula of docs/numerics.md, with fma by whole numbers and rounding by comparing distances.
float by_steps(float x) {
  x = std::max(-88.3762626647949f, std::min(88.3762626647949f, x));
  const float scaled = x * 1.44269504088896341f;
  float n = std::floor(scaled);
  if (scaled - n > 0.5f || (scaled - n == 0.5f && std::fmod(n, 2.0f) != 0.0f)) n += 1.0f;
  float r = exact_fma(-n, 0.693359375f, x);
  r = exact_fma(-n, -2.12194440e-4f, r);
  float p = 1.9875691500e-4f;
  for (const float c : {1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f, 1.6666665459e-1f, 5.0000001201e-1f})
    p = exact_fma(p, r, c);
  const float y = exact_fma(p, r * r, r) + 1.0f;
  return n > -127.0f ? std::ldexp(y, static_cast<int>(n)) : 0.0f;
}

TEST(Exp8, IsTheFormulaStepByStep) {
  Random rng(5);
  for (int i = 0; i < 20000; ++i) {
    const float x = i % 2 ? rng.uniform(-90.0f, 90.0f) : std::ldexp(rng.uniform(-1.0f, 1.0f), -static_cast<int>(rng.below(30)));
    ASSERT_EQ(bits_of(ref::exp8(x)), bits_of(by_steps(x))) << x;
  }
}

// A hash of 2.4 million results: files and fingerprints of other builds depend on every one.
TEST(Exp8, Bits) {
  uint64_t hash = 0;
  for (const uint32_t sign : {0u, kSignBit})
    for (uint32_t m = 0x30000000u; m <= kLimitBits; m += 257)
      hash = (hash ^ bits_of(ref::exp8(from_bits(sign | m)))) * 0x9e3779b97f4a7c15u;
  EXPECT_EQ(hash, 0x3fd1288a738e2d49u);
}

TEST(Exp8, FloatsBelowTwoToTheMinus63GiveOne) {
  const uint32_t step = std::getenv("NYBBLE_EVERY_FLOAT") ? 1 : 97 * kThin;
  for (const uint32_t sign : {0u, kSignBit})
    for (uint32_t m = 0; m < kSmallBits; m += step) ASSERT_EQ(ref::exp8(from_bits(sign | m)), 1.0f) << from_bits(sign | m);
}

TEST(Exp8, IsPlusZeroFarDown) {
  for (uint32_t m = bits_of(87.6831284f); m <= 0x7f800000u; m += (m < kLimitBits ? 1 : 4001))
    ASSERT_EQ(bits_of(ref::exp8(from_bits(kSignBit | m))), 0u) << from_bits(kSignBit | m);
  EXPECT_EQ(bits_of(ref::exp8(-std::numeric_limits<float>::infinity())), 0u);
}

TEST(Exp8, StaysAtItsGreatestFarUp) {
  const float top = ref::exp8(88.3762626647949f);
  EXPECT_GT(top, 2.406e38f);
  for (const float x : {88.5f, 100.0f, 1e38f, std::numeric_limits<float>::infinity()}) EXPECT_EQ(ref::exp8(x), top);
}

TEST(Exp8, LetsNanPass) {
  for (const uint32_t b : {0x7fc00000u, 0xffc00000u, 0x7f800001u, 0x7fffffffu}) EXPECT_TRUE(std::isnan(ref::exp8(from_bits(b))));
}

TEST(Exp8, VectorsAreItsLanes) {
  Random rng(4);
  std::vector<float> x(1000), y(1000);
  for (float& v : x) v = rng.any();
  ref::exp8_vec(x.data(), y.data(), x.size());
  for (size_t i = 0; i < x.size(); ++i) ASSERT_TRUE(same(y[i], ref::exp8(x[i]))) << x[i];
  ref::exp8_vec(x.data(), x.data(), x.size());
  for (size_t i = 0; i < x.size(); ++i) ASSERT_TRUE(same(y[i], x[i])) << "in place, at " << i;
}

}  // namespace
}  // namespace nyb::test
