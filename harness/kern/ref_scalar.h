// ref_scalar.h - the scalar steps that all reference kernels are made of, inline so that their loops are not calls.
// Each is one correctly rounded binary32 operation, or a fixed sequence of them (docs/numerics.md, rule 3).
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include "kern/round.h"

namespace nyb::ref {

// a * b + c, rounded once. The product of two 24-bit significands has at most 48 bits, so it is exact in double, and no
// float product or sum can leave double's range. The sum with c is not exact: 2Sum finds what was lost, and the sum is
// then rounded to odd, which makes the second rounding, to float, the same as a single one: 53 bits are more than the
// 24 + 2 that this needs, also where the float is subnormal and has fewer.
inline float fma_odd(float a, float b, float c) {
  const double p = static_cast<double>(a) * static_cast<double>(b);
  const double d = c;
  const double s = p + d;
  const double back = s - p;
  const double lost = (p - (s - back)) + (d - back);
  uint64_t bits = std::bit_cast<uint64_t>(s);
  if ((lost > 0 || lost < 0) && (bits & 1) == 0) {                 // false also for the NaN of an infinite sum
    bits += ((lost > 0) == (s > 0)) ? uint64_t{1} : ~uint64_t{0};  // away from zero, or towards it
  }
  return static_cast<float>(std::bit_cast<double>(bits));
}

// The same value, sooner. Rounding twice differs from rounding once only if the double lies exactly between two floats:
// every midpoint of floats is a double, so the first rounding cannot carry a sum across one. Of a normal float's
// midpoints the low 29 bits are 1 0000...; everything else, and NaN, takes the long way.
inline float fma_once(float a, float b, float c) {
  const double s = static_cast<double>(a) * static_cast<double>(b) + static_cast<double>(c);
  const uint64_t bits = std::bit_cast<uint64_t>(s);
  constexpr uint64_t least_normal = uint64_t{1023 - 126} << 52;
  if ((bits & 0x7fffffffffffffffu) >= least_normal && (bits & 0x1fffffffu) != 0x10000000u) return static_cast<float>(s);
  return fma_odd(a, b, c);
}

// e^x; see docs/numerics.md, "exp8", for the range and the error.
inline float exp8_once(float x) {
  if (x != x) return x + x;
  constexpr float limit = 88.3762626647949f;
  x = limit < x ? limit : x;
  x = -limit > x ? -limit : x;
  const float n = nearest_even(x * 1.44269504088896341f);
  float r = fma_once(n, -0.693359375f, x);  // ln 2 in two parts: n times the first is exact
  r = fma_once(n, 2.12194440e-4f, r);
  float p = 1.9875691500e-4f;
  p = fma_once(p, r, 1.3981999507e-3f);
  p = fma_once(p, r, 8.3334519073e-3f);
  p = fma_once(p, r, 4.1665795894e-2f);
  p = fma_once(p, r, 1.6666665459e-1f);
  p = fma_once(p, r, 5.0000001201e-1f);
  float y = fma_once(p, r * r, r);
  y = y + 1.0f;
  // n is -127..127, so this is 2^n, or +0 for n = -127
  return y * std::bit_cast<float>(static_cast<uint32_t>(static_cast<int32_t>(n) + 127) << 23);
}

// Rule 2: sixteen strided partial results, then a fixed tree.
struct Partials {
  float p[16] = {};
  float tree() {
    for (size_t width = 8; width > 0; width /= 2)
      for (size_t i = 0; i < width; ++i) p[i] = p[i] + p[i + width];
    return p[0];
  }
};

}  // namespace nyb::ref
