// sampler.h - from logits to a token (docs/numerics.md, "From logits to a token").
#pragma once
#include <cstdint>
#include <span>
#include <vector>
#include "kern/kern.h"

namespace nyb {

struct SampParams {
  float temp = 0.7f;    // 0: the most likely token, nothing is drawn
  float top_p = 0.9f;   // 0: keeps one; 1: keeps all
  float min_p = 0.0f;   // 0: keeps all
  uint32_t top_k = 64;  // 0: keeps all
  void check() const;   // throws Error for a setting that is NaN, infinite, negative or above its range
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
  Sampler(const SampParams& p, uint64_t seed);  // throws what check() throws
  SampParams params;
  Rng rng;
  std::vector<float> work;         // numerators
  std::vector<uint32_t> order;     // candidates, then the best of them in order
  bool warned_not_finite = false;  // some logits were NaN or infinite and left out
};

// One token. Temperature 0 draws nothing, any other draws once. Logits that are NaN or infinite take no part (their numerator
// is 0) and set warned_not_finite. Throws Error when no logit is finite. A temperature so low that 1 / temp overflows counts
// with the greatest float in its place.
int32_t samp_pick(Sampler& s, const KernTable& kern, std::span<const float> logits);

}  // namespace nyb
