// sampler.h - from logits to a token (docs/numerics.md, "From logits to a token").
#pragma once
#include <cstdint>
#include <span>
#include <vector>
#include "kern/kern.h"

namespace nyb {

struct SampParams {
  float temp = 0.7f, top_p = 0.9f, min_p = 0.0f;
  uint32_t top_k = 64;                 // 0: all
  void check() const;                  // throws Error for a setting that is NaN, infinite, negative or above its range
};

// xoshiro256** seeded by four outputs of splitmix64.
class Rng {
 public:
  explicit Rng(uint64_t seed);
  uint64_t next();
 private:
  uint64_t s_[4];
};

class Sampler {
 public:
  Sampler(const SampParams& p, uint64_t seed);
  SampParams params;
  Rng rng;
  std::vector<float> work;                                     // numerators
  std::vector<uint32_t> order;
  bool warned_not_finite = false;                              // some logits were NaN or infinite and left out
};

// One token. Temperature 0 draws nothing. Throws Error when no logit is finite.
int32_t samp_pick(Sampler& s, const KernTable& kern, std::span<const float> logits);

}  // namespace nyb
