// f16.cpp - the half formats by integer arithmetic alone; the bits are those of vcvtph2ps and vcvtps2ph, NaN included.
#include "kern/f16.h"

#include <bit>

namespace nyb {

float f16_to_f32(uint16_t h) {
  const uint32_t sign = static_cast<uint32_t>(h & 0x8000u) << 16;
  const uint32_t exponent = (h >> 10) & 31u;
  const uint32_t fraction = h & 0x3ffu;
  if (exponent == 31) {
    const uint32_t quiet = fraction ? 0x400000u : 0u;
    return std::bit_cast<float>(sign | 0x7f800000u | quiet | (fraction << 13));
  }
  if (exponent == 0) {
    // A subnormal is fraction * 2^-24: the leading one moves up to the implicit place.
    if (fraction == 0) return std::bit_cast<float>(sign);
    const auto up = static_cast<uint32_t>(std::countl_zero(fraction)) - 21u;
    return std::bit_cast<float>(sign | ((113u - up) << 23) | (((fraction << up) & 0x3ffu) << 13));
  }
  return std::bit_cast<float>(sign | ((exponent + 112u) << 23) | (fraction << 13));
}

uint16_t f32_to_f16(float f) {
  const uint32_t bits = std::bit_cast<uint32_t>(f);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t mag = bits & 0x7fffffffu;
  if (mag > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u | ((mag >> 13) & 0x3ffu));
  if (mag >= 0x47800000u) return static_cast<uint16_t>(sign | 0x7c00u);  // 65536 and more
  // What is cut off is compared with half of the last place kept; a carry runs into the exponent, as it should.
  uint32_t kept, cut, half;
  if (mag >= 0x38800000u) {
    kept = (mag - 0x38000000u) >> 13;
    cut = mag & 0x1fffu;
    half = 0x1000u;
  } else {
    if (mag < 0x33000000u) return static_cast<uint16_t>(sign);  // below 2^-25, half of the least subnormal
    const uint32_t significand = (mag & 0x7fffffu) | 0x800000u;
    const uint32_t down = 126u - (mag >> 23);  // the result counts units of 2^-24
    kept = significand >> down;
    cut = significand & ((1u << down) - 1u);
    half = 1u << (down - 1u);
  }
  if (cut > half || (cut == half && (kept & 1u))) ++kept;
  return static_cast<uint16_t>(sign | kept);
}

float bf16_to_f32(uint16_t b) { return std::bit_cast<float>(static_cast<uint32_t>(b) << 16); }

}  // namespace nyb
