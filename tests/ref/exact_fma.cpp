#include "ref/exact_fma.h"

#include <array>
#include <limits>

#include "ref/bits.h"

namespace nyb::test {
namespace {

// Magnitudes, least significant word first. The unit is the square of the least subnormal.
constexpr int kWords = 11;
constexpr int kUnit = -298;
using Big = std::array<uint64_t, kWords>;

Big shifted(uint64_t v, int by) {
  Big out = {};
  const int word = by / 64;
  const int bit = by % 64;
  out[word] = v << bit;
  if (bit != 0 && word + 1 < kWords) out[word + 1] = v >> (64 - bit);
  return out;
}

bool less(const Big& a, const Big& b) {
  for (int i = kWords - 1; i >= 0; --i)
    if (a[i] != b[i]) return a[i] < b[i];
  return false;
}

Big sum(const Big& a, const Big& b) {
  Big out;
  uint64_t carry = 0;
  for (int i = 0; i < kWords; ++i) {
    const uint64_t t = a[i] + carry;
    const uint64_t carry_t = t < carry;
    out[i] = t + b[i];
    carry = carry_t | static_cast<uint64_t>(out[i] < t);
  }
  return out;
}

Big difference(const Big& a, const Big& b) {  // a >= b
  Big out;
  uint64_t borrow = 0;
  for (int i = 0; i < kWords; ++i) {
    const uint64_t t = a[i] - borrow;
    const uint64_t borrow_t = a[i] < borrow;
    out[i] = t - b[i];
    borrow = borrow_t | static_cast<uint64_t>(t < b[i]);
  }
  return out;
}

bool bit_at(const Big& a, int i) { return i >= 0 && ((a[i / 64] >> (i % 64)) & 1u); }

int top_bit(const Big& a) {
  for (int i = kWords * 64 - 1; i >= 0; --i)
    if (bit_at(a, i)) return i;
  return -1;
}

bool any_below(const Big& a, int i) {
  for (int k = 0; k < i; ++k)
    if (bit_at(a, k)) return true;
  return false;
}

float rounded(const Big& a, bool negative) {
  const int top = top_bit(a);
  // The last place kept: 24 bits from the top, but nothing below 2^-149.
  const int last = std::max(top - 23, -149 - kUnit);
  uint32_t kept = 0;
  for (int i = std::max(top, last); i >= last; --i) kept = kept * 2 + static_cast<uint32_t>(bit_at(a, i));
  if (bit_at(a, last - 1) && (any_below(a, last - 1) || (kept & 1u))) ++kept;
  // Adding the exponent field to a significand with its leading one in place carries rightly, into infinity too.
  const int exponent = last + kUnit + 149;
  const uint64_t magnitude = (static_cast<uint64_t>(exponent) << 23) + kept;
  const uint32_t bits = magnitude > 0x7f800000u ? 0x7f800000u : static_cast<uint32_t>(magnitude);
  return from_bits(bits | (negative ? 0x80000000u : 0u));
}

struct Parts {
  uint32_t significand;
  int exponent;  // the value is significand * 2^exponent
  bool negative;
};
Parts parts_of(float f) {
  const uint32_t b = bits_of(f);
  const int field = static_cast<int>((b >> 23) & 255u);
  const uint32_t fraction = b & 0x7fffffu;
  return {field ? fraction | 0x800000u : fraction, (field ? field : 1) - 150, (b >> 31) != 0};
}

}  // namespace

float exact_fma(float a, float b, float c) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  if (std::isnan(a) || std::isnan(b) || std::isnan(c)) return nan;
  const Parts x = parts_of(a);
  const Parts y = parts_of(b);
  const Parts z = parts_of(c);
  const bool negative = x.negative != y.negative;
  if (std::isinf(a) || std::isinf(b)) {
    if (a == 0 || b == 0 || (std::isinf(c) && z.negative != negative)) return nan;
    return from_bits(0x7f800000u | (negative ? 0x80000000u : 0u));
  }
  if (std::isinf(c)) return c;
  const Big product = shifted(static_cast<uint64_t>(x.significand) * y.significand, x.exponent + y.exponent - kUnit);
  const Big addend = shifted(z.significand, z.exponent - kUnit);
  if (negative == z.negative) {
    const Big s = sum(product, addend);
    return top_bit(s) < 0 ? c : rounded(s, negative);
  }
  const bool product_less = less(product, addend);
  const Big d = product_less ? difference(addend, product) : difference(product, addend);
  return top_bit(d) < 0 ? 0.0f : rounded(d, product_less ? z.negative : negative);
}

}  // namespace nyb::test
