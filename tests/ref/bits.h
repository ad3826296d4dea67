// bits.h - what the tests of the reference share: bit patterns of floats, and random inputs of every magnitude.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace nyb::test {

inline uint32_t bits_of(float f) { return std::bit_cast<uint32_t>(f); }
inline float from_bits(uint32_t b) { return std::bit_cast<float>(b); }

// The same bits, or both NaN: which NaN is no part of the promise.
inline bool same(float a, float b) { return bits_of(a) == bits_of(b) || (std::isnan(a) && std::isnan(b)); }

// Half an ulp of 1: the greatest relative error of one operation. All tolerances of these tests are built from it.
inline constexpr double kHalfUlp = 0x1p-24;

class Random {
 public:
  explicit Random(uint64_t seed) : gen_(seed) {}
  uint32_t word() { return static_cast<uint32_t>(gen_()); }
  size_t below(size_t n) { return static_cast<size_t>(gen_() % n); }
  float any() { return from_bits(word()); }  // infinities and NaN among them
  float uniform(float low, float high) {
    return low + (high - low) * static_cast<float>(static_cast<double>(gen_() >> 11) * 0x1p-53);
  }
  float normal() { return static_cast<float>(dist_(gen_)); }

 private:
  std::mt19937_64 gen_;
  std::normal_distribution<double> dist_;
};

inline std::vector<float> normals(Random& rng, size_t n, float size = 1.0f) {
  std::vector<float> out(n);
  for (float& v : out) v = rng.normal() * size;
  return out;
}

}  // namespace nyb::test
