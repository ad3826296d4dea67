// dmath.h - double-precision functions that must give the same bits everywhere, so no libm is asked: only + - * / and
// integer operations on the bits. Accurate to 1 ulp or so over the stated ranges.
#pragma once

namespace nyb {
struct SinCos {
  double sin, cos;
};
SinCos det_sincos(double angle);                    // |angle| <= 2^30
double det_exp(double x);                           // |x| <= 700
double det_log(double x);                           // x > 0, normal
double det_pow(double base, double exponent);       // base > 0: exp(exponent * log(base)), evaluated with extra bits
}  // namespace nyb
