// dmath.cpp - exponential, logarithm and power by double-double arithmetic. They run when a model is converted, not in its
// inner loops, so they are short and sure rather than fast.
#include "kern/dmath.h"

#include <limits>

#include "kern/double_double.h"

namespace nyb {
namespace {

using dd::DD;

// log x for a positive normal x: x = m * 2^e with m between sqrt(1/2) and sqrt(2), and
// log m = 2 artanh(s) = 2 (s + s^3/3 + s^5/5 + ...), s = (m - 1) / (m + 1), |s| < 0.1716.
// The first term left out is below 2^-119 of the sum.
DD log_dd(double x) {
  const uint64_t bits = std::bit_cast<uint64_t>(x);
  int e = static_cast<int>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0xfffffffffffffu) | (uint64_t{1023} << 52));
  if (m > 1.4142135623730951) {
    m = m * 0.5;
    ++e;
  }
  const DD s = dd::div({m - 1.0, 0.0}, dd::two_sum(m, 1.0));  // m - 1 is exact
  const DD s2 = dd::mul(s, s);
  DD sum = {0.0, 0.0};
  for (int k = 45; k >= 1; k -= 2) sum = dd::add(dd::mul(sum, s2), dd::div({1.0, 0.0}, {static_cast<double>(k), 0.0}));
  sum = dd::mul(sum, s);
  return dd::add(dd::mul(dd::kLn2, static_cast<double>(e)), {2.0 * sum.hi, 2.0 * sum.lo});
}

// e^x rounded to double: x = k ln 2 + r, |r| < 0.35, and Taylor's series for e^r nested,
// 1 + r (1 + r/2 (1 + r/3 (...))); the first term left out is below 2^-126.
double exp_dd(DD x) {
  if (x.hi != x.hi) return x.hi;
  if (x.hi > 710.0) return std::numeric_limits<double>::infinity();
  if (x.hi < -750.0) return 0.0;
  const double k = dd::nearest_even(x.hi * 1.4426950408889634);
  const DD r = dd::add(x, dd::mul(dd::kLn2, -k));
  DD sum = {1.0, 0.0};
  for (int n = 26; n >= 1; --n) {
    const DD step = dd::div(r, {static_cast<double>(n), 0.0});
    sum = dd::add({1.0, 0.0}, dd::mul(step, sum));
  }
  // In two factors, since 2^k alone may be no normal number where the result is one.
  const int whole = static_cast<int>(k);
  const int half = whole / 2;
  return sum.hi * dd::power_of_two(half) * dd::power_of_two(whole - half);
}

}  // namespace

double det_exp(double x) { return exp_dd({x, 0.0}); }

double det_log(double x) { return log_dd(x).hi; }

double det_pow(double base, double exponent) {
  if (exponent == 0.0 || base == 1.0) return 1.0;
  return exp_dd(dd::mul(log_dd(base), exponent));
}

}  // namespace nyb
