// round.h - rounding to integers by two float operations, which every machine does alike.
#pragma once

namespace nyb {

// Nearest integer, ties to even, for |x| < 2^22: at 1.5 * 2^23 the spacing of floats is 1, so the addition rounds.
inline float nearest_even(float x) {
  constexpr float magic = 12582912.0f;
  return (x + magic) - magic;
}

}  // namespace nyb
