// dmath.h - double-precision functions that must give the same bits everywhere, so no libm is asked: only + - * / and
// integer operations on the bits.
#pragma once

namespace nyb {
struct SinCos {
  double sin, cos;
};
inline constexpr double kMostRadians = 1073741824.0;  // 2^30
// |angle| <= kMostRadians; within 0.8 ulp each. Both are NaN for any other angle.
SinCos det_sincos(double angle);

// The nearest double, but for values within about 2^-90 of the middle between two. Results beyond double's range are infinite
// or 0; NaN stays NaN.
double det_exp(double x);
double det_log(double x);                      // x > 0, normal
double det_pow(double base, double exponent);  // base > 0, normal; |exponent| <= 2^40
}  // namespace nyb
