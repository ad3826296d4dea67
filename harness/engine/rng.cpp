// rng.cpp - xoshiro256** (Blackman and Vigna's, public domain), seeded as numerics.md fixes it.
#include "engine/sampler.h"
#include "kern/splitmix.h"

namespace nyb {
namespace {

uint64_t rotl(uint64_t x, int k) { return x << k | x >> (64 - k); }

}  // namespace

Rng::Rng(uint64_t seed) {
  for (uint64_t& s : s_) s = splitmix64(seed);
}

uint64_t Rng::next() {
  const uint64_t result = rotl(s_[1] * 5, 7) * 9, t = s_[1] << 17;
  s_[2] ^= s_[0];
  s_[3] ^= s_[1];
  s_[1] ^= s_[2];
  s_[0] ^= s_[3];
  s_[2] ^= t;
  s_[3] = rotl(s_[3], 45);
  return result;
}

}  // namespace nyb
