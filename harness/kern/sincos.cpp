// sincos.cpp - sine and cosine of a double, each within 1 ulp for angles up to 2^30: RoPE's angles are positions times
// frequencies, and every machine must turn by the same bits.
#include <limits>

#include "kern/dmath.h"
#include "kern/double_double.h"

namespace nyb {
namespace {

using dd::DD;

// The sum of a few doubles as if in many times the precision: each pass of two_sum moves the rounding errors down one place
// and loses nothing, so that after three passes even a sum that cancels to 2^-60 of its terms is right (Ogita, Rump, Oishi).
template <int N>
DD sum_all(double (&v)[N]) {
  for (int pass = 0; pass < 3; ++pass) {
    for (int i = 1; i < N; ++i) {
      const DD s = dd::two_sum(v[i], v[i - 1]);
      v[i] = s.hi;
      v[i - 1] = s.lo;
    }
  }
  double low = v[0];
  for (int i = 1; i < N - 1; ++i) low += v[i];
  return dd::fast_two_sum(v[N - 1], low);
}

// r = angle - k * pi/2 with |r| a hair above pi/4 at most. pi/2 stands in parts of at most 23 bits, so that each product
// with k, which has at most 30 bits, is exact; the last part's error is below 2^-165.
struct Reduced {
  DD r;
  int64_t k;
};
Reduced reduce(double angle) {
  constexpr double half_pi[] = {0x1.921fb4p+0, 0x1.4442dp-24,  0x1.84698p-48,         0x1.3198ap-69,
                                0x1.701b8p-92, 0x1.cd129p-115, 0x1.27044533e63a0p-142};
  const double k = dd::nearest_even(angle * 0x1.45f306dc9c883p-1);
  double parts[8];
  parts[7] = angle;
  for (int i = 0; i < 7; ++i) parts[6 - i] = -(k * half_pi[i]);
  return {sum_all(parts), static_cast<int64_t>(k)};
}

// Taylor's series from r^3 on: for |r| < 0.7855 what is left out is below 2^-66 of r.
double sin_near(DD x) {
  constexpr double c[] = {-1.0 / 121645100408832000.0,
                          1.0 / 355687428096000.0,
                          -1.0 / 1307674368000.0,
                          1.0 / 6227020800.0,
                          -1.0 / 39916800.0,
                          1.0 / 362880.0,
                          -1.0 / 5040.0,
                          1.0 / 120.0,
                          -1.0 / 6.0};
  const double r = x.hi;
  const double r2 = r * r;
  double p = 0.0;
  for (const double term : c) p = p * r2 + term;
  // sin(r + lo) = r + (r^3 p + lo cos r)
  return r + (r * r2 * p + x.lo * (1.0 - 0.5 * r2));
}

// 1 - r^2/2 with both halves of r^2, then the rest of the series, from r^4 on.
double cos_near(DD x) {
  constexpr double c[] = {1.0 / 2432902008176640000.0,
                          -1.0 / 6402373705728000.0,
                          1.0 / 20922789888000.0,
                          -1.0 / 87178291200.0,
                          1.0 / 479001600.0,
                          -1.0 / 3628800.0,
                          1.0 / 40320.0,
                          -1.0 / 720.0,
                          1.0 / 24.0};
  const double r = x.hi;
  const DD r2 = dd::two_prod(r, r);
  double p = 0.0;
  for (const double term : c) p = p * r2.hi + term;
  const DD top = dd::fast_two_sum(1.0, -0.5 * r2.hi);
  // cos(r + lo) = cos r - lo sin r, and lo is so small that r does for the sine
  return top.hi + (top.lo + (r2.hi * r2.hi * p - 0.5 * r2.lo - x.lo * r));
}

}  // namespace

SinCos det_sincos(double angle) {
  if (!(angle <= kMostRadians && angle >= -kMostRadians)) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    return {nan, nan};
  }
  const Reduced red = reduce(angle);
  const double s = sin_near(red.r);
  const double c = cos_near(red.r);
  switch (red.k & 3) {
    case 0: return {s, c};
    case 1: return {c, -s};
    case 2: return {-s, -c};
    default: return {-c, s};
  }
}

}  // namespace nyb
