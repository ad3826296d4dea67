// fma_test.cpp - the reference's fma against whole-number arithmetic on any CPU, and against vfmadd where there is one.
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "kern/cpu.h"
#include "kern/ref.h"
#include "kern/ref_scalar.h"
#include "ref/bits.h"
#include "ref/exact_fma.h"

namespace nyb::test {
namespace {

struct Case {
  float a, b, c;
};

std::string text(const Case& t) {
  char line[96];
  std::snprintf(line, sizeof line, "fma(%a, %a, %a)", t.a, t.b, t.c);
  return line;
}

// Both signs of the whole, and of the addend.
void push(std::vector<Case>& out, float a, float b, float c) {
  for (const float s : {1.0f, -1.0f})
    for (const float t : {1.0f, -1.0f}) out.push_back({s * a, b, t * c});
}

// A product exactly between two floats, and an addend far below double's last place that says which way: rounding to
// double first loses the addend, and the second rounding then takes the even neighbour.
void midpoint_products(std::vector<Case>& out, Random& rng) {
  for (int i = 0; i < 20000; ++i) {
    const uint32_t factor = 3 + 2 * static_cast<uint32_t>(rng.below(1000));
    const uint32_t other = (0x1000000u / factor + rng.word() % (0x1000000u / factor)) | 1u;
    const uint64_t product = static_cast<uint64_t>(factor) * other;  // odd
    if (product < 0x1000000u || product >= 0x2000000u) continue;     // 25 bits: its last is half a place
    const int shift = static_cast<int>(rng.below(160)) - 90;
    const int below = 30 + static_cast<int>(rng.below(50));
    push(out, std::ldexp(static_cast<float>(factor), shift), static_cast<float>(other), std::ldexp(1.0f, shift - below));
  }
}

// An addend of 24 bits and a product that is half its last place, a hair more, or a hair less.
void midpoint_addends(std::vector<Case>& out, Random& rng) {
  const float more = 1.0f + 0x1p-23f;
  const float less = 1.0f - 0x1p-23f;
  for (int i = 0; i < 20000; ++i) {
    const int shift = static_cast<int>(rng.below(200)) - 100;
    const float c = std::ldexp(static_cast<float>(0x800000u | (rng.word() & 0x7fffffu)), shift);
    const int left = static_cast<int>(rng.below(60)) - 30;
    const float a = std::ldexp(1.0f, left);
    const float b = std::ldexp(1.0f, shift - 1 - left);
    push(out, a, b, c);
    push(out, a * more, b * less, c);  // 1 - 2^-46
    push(out, a * more, b * more, c);
    push(out, a * less, b, c);
  }
}

// Results among the subnormals: halves of the least one, and sums around the least normal.
void subnormals(std::vector<Case>& out, Random& rng) {
  const float hairs[] = {1.0f, 1.0f + 0x1p-23f, 1.0f - 0x1p-23f, 1.0f + 0x1p-22f};
  for (uint32_t i = 0; i < 2000; ++i) {
    const uint32_t c = i < 64 ? i : rng.word() & 0x7fffffu;
    for (const float x : hairs)
      for (const float y : hairs) push(out, x * 0x1p-75f, y * 0x1p-75f, from_bits(c));
  }
  for (int i = 0; i < 20000; ++i) {
    const float c = from_bits(rng.word() & 0x00ffffffu);
    const float a = std::ldexp(1.0f + static_cast<float>(rng.below(1u << 23)) * 0x1p-23f, -60 - static_cast<int>(rng.below(30)));
    const float b = std::ldexp(hairs[rng.below(4)], -60 - static_cast<int>(rng.below(30)));
    push(out, a, b, c);
    push(out, a, b, 0x1p-126f);
    push(out, a, b, from_bits(0x007fffffu));
  }
}

void specials(std::vector<Case>& out) {
  const float inf = std::numeric_limits<float>::infinity();
  const float values[] = {0.0f,
                          -0.0f,
                          1.0f,
                          -1.0f,
                          0x1p-149f,
                          -0x1p-149f,
                          0x1p-126f,
                          std::numeric_limits<float>::max(),
                          -std::numeric_limits<float>::max(),
                          inf,
                          -inf,
                          std::numeric_limits<float>::quiet_NaN(),
                          0x1p-24f,
                          2.0f};
  for (const float a : values)
    for (const float b : values)
      for (const float c : values) out.push_back({a, b, c});
}

// Any bit patterns, and patterns whose product and addend are near each other.
void random_patterns(std::vector<Case>& out, Random& rng, int count) {
  for (int i = 0; i < count; ++i) {
    const float a = rng.any();
    const float b = rng.any();
    out.push_back({a, b, rng.any()});
    const float near = static_cast<float>(static_cast<double>(a) * b);
    out.push_back({a, b, -near});  // what is left is the rounding error of the product
    out.push_back({a, b, from_bits(bits_of(near) ^ (rng.word() >> (8 + rng.below(24))))});
  }
}

std::vector<Case> constructed() {
  std::vector<Case> out;
  Random rng(1);
  midpoint_products(out, rng);
  midpoint_addends(out, rng);
  subnormals(out, rng);
  specials(out);
  return out;
}

TEST(Fma, EqualsWholeNumbersOnConstructedCases) {
  for (const Case& t : constructed()) {
    const float want = exact_fma(t.a, t.b, t.c);
    ASSERT_TRUE(same(ref::fma(t.a, t.b, t.c), want)) << text(t);
    ASSERT_TRUE(same(ref::fma_odd(t.a, t.b, t.c), want)) << text(t) << " by rounding to odd";
  }
}

TEST(Fma, EqualsWholeNumbersOnRandomBits) {
  std::vector<Case> cases;
  Random rng(2);
  random_patterns(cases, rng, 200000);
  for (const Case& t : cases) {
    const float want = exact_fma(t.a, t.b, t.c);
    ASSERT_TRUE(same(ref::fma(t.a, t.b, t.c), want)) << text(t);
    ASSERT_TRUE(same(ref::fma_odd(t.a, t.b, t.c), want)) << text(t) << " by rounding to odd";
  }
}

// The fault that some C libraries shipped must not pass the constructed cases, or they would prove nothing.
TEST(Fma, ConstructedCasesCatchRoundingTwice) {
  size_t caught = 0;
  size_t caught_subnormal = 0;
  for (const Case& t : constructed()) {
    const auto twice = static_cast<float>(static_cast<double>(t.a) * t.b + t.c);
    if (same(twice, exact_fma(t.a, t.b, t.c))) continue;
    ++caught;
    if (std::fabs(twice) < 0x1p-126f) ++caught_subnormal;
  }
  EXPECT_GT(caught, 10000u);
  EXPECT_GT(caught_subnormal, 100u);
}

float hardware_fma(float a, float b, float c) {
  __asm__("vfmadd213ss %2, %1, %0" : "+x"(a) : "x"(b), "x"(c));
  return a;
}

TEST(Fma, EqualsTheInstruction) {
  const CpuFeatures& cpu = cpu_here();
  if (!cpu.fma || !cpu.avx || !cpu.os_ymm) GTEST_SKIP() << "this CPU lacks FMA";
  std::vector<Case> cases = constructed();
  Random rng(3);
  random_patterns(cases, rng, 1000000);
  for (const Case& t : cases) ASSERT_TRUE(same(ref::fma(t.a, t.b, t.c), hardware_fma(t.a, t.b, t.c))) << text(t);
}

}  // namespace
}  // namespace nyb::test
