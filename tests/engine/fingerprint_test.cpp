// fingerprint_test.cpp - the hash is XXH3-64 of the floats' bytes, however they arrive.
#include "engine/fingerprint.h"

#include <gtest/gtest.h>
#include <xxhash.h>

#include <vector>

namespace nyb {
namespace {

std::vector<float> numbers(size_t n) {
  std::vector<float> v(n);
  for (size_t i = 0; i < n; i++) v[i] = static_cast<float>(i) * 0.37f - 5;
  return v;
}

TEST(Fingerprint, IsTheHashOfTheBytes) {
  const std::vector<float> v = numbers(3000);
  Fingerprint f;
  f.add(v);
  EXPECT_EQ(f.value(), XXH3_64bits(v.data(), v.size() * 4));
  Fingerprint parts;
  for (size_t i = 0; i < v.size(); i += 7) parts.add({v.data() + i, std::min<size_t>(7, v.size() - i)});
  EXPECT_EQ(parts.value(), f.value());
}

TEST(Fingerprint, OfNothingIsTheKnownOne) {
  Fingerprint f;
  EXPECT_EQ(f.hex(), "2d06800538d394c2");  // XXH3-64 of no bytes, as its specification has it
  f.add({});
  EXPECT_EQ(f.hex(), "2d06800538d394c2");
}

TEST(Fingerprint, SeesOneBitAndTheSignOfZero) {
  std::vector<float> a = numbers(100), b = a;
  b[57] = -b[57];
  Fingerprint fa, fb;
  fa.add(a);
  fb.add(b);
  EXPECT_NE(fa.value(), fb.value());
  const float plus = 0.0f, minus = -0.0f;
  Fingerprint fp, fm;
  fp.add({&plus, 1});
  fm.add({&minus, 1});
  EXPECT_NE(fp.hex(), fm.hex());
}

TEST(Fingerprint, GoesOnAfterBeingRead) {
  const std::vector<float> v = numbers(64);
  Fingerprint a, b;
  a.add({v.data(), 32});
  (void)a.value();
  a.add({v.data() + 32, 32});
  b.add(v);
  EXPECT_EQ(a.value(), b.value());
  EXPECT_EQ(a.hex().size(), 16u);
}

}  // namespace
}  // namespace nyb
