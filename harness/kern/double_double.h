// double_double.h - numbers of about 106 bits as the unevaluated sum of two doubles, |lo| at most half an ulp of hi.
// The steps are the classic error-free ones of Dekker and Knuth; all of them need + and * alone, nearest even.
#pragma once
#include <bit>
#include <cstdint>

namespace nyb::dd {

struct DD {
  double hi, lo;
};

// a + b exactly, for any a and b
inline DD two_sum(double a, double b) {
  const double s = a + b;
  const double t = s - a;
  return {s, (a - (s - t)) + (b - t)};
}

// a + b exactly, for |a| >= |b| or a = 0
inline DD fast_two_sum(double a, double b) {
  const double s = a + b;
  return {s, b - (s - a)};
}

// a * b exactly, away from overflow (|a|, |b| below 2^990) and underflow: the halves have at most 26 bits
inline DD two_prod(double a, double b) {
  constexpr double split = 134217729.0;  // 2^27 + 1
  const double ta = split * a;
  const double a1 = ta - (ta - a);
  const double a2 = a - a1;
  const double tb = split * b;
  const double b1 = tb - (tb - b);
  const double b2 = b - b1;
  const double p = a * b;
  return {p, ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2};
}

inline DD add(DD a, DD b) {
  const DD s = two_sum(a.hi, b.hi);
  const DD t = two_sum(a.lo, b.lo);
  const DD u = fast_two_sum(s.hi, s.lo + t.hi);
  return fast_two_sum(u.hi, u.lo + t.lo);
}

inline DD mul(DD a, DD b) {
  const DD p = two_prod(a.hi, b.hi);
  return fast_two_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

inline DD mul(DD a, double b) {
  const DD p = two_prod(a.hi, b);
  return fast_two_sum(p.hi, p.lo + a.lo * b);
}

inline DD div(DD a, DD b) {
  const double q = a.hi / b.hi;
  const DD back = mul(b, q);
  const DD rest = add(a, {-back.hi, -back.lo});
  return fast_two_sum(q, rest.hi / b.hi);
}

// Nearest integer, ties to even, for |x| < 2^51.
inline double nearest_even(double x) {
  constexpr double magic = 6755399441055744.0;  // 1.5 * 2^52
  return (x + magic) - magic;
}

// 2^n as bits, -1022 <= n <= 1023
inline double power_of_two(int n) { return std::bit_cast<double>(static_cast<uint64_t>(n + 1023) << 52); }

inline constexpr DD kLn2 = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};

}  // namespace nyb::dd
