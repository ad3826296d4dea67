// sampler.h - from logits to a token (docs/numerics.md, "From logits to a token").
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>
#include "kern/kern.h"

namespace nyb {

struct SampParams {
  float temp = 0.7f;            // 0: the most likely token, nothing is drawn
  float top_p = 0.9f;           // 0: keeps one; 1: keeps all
  float min_p = 0.0f;           // 0: keeps all
  uint32_t top_k = 64;          // 0: keeps all
  float repeat_penalty = 1.0f;  // 1: none; more makes the last tokens less likely
  uint32_t repeat_last_n = 64;  // how many of the last tokens; 0: none, UINT32_MAX: all of the context
  void check() const;           // throws Error for a setting that is NaN, infinite, negative or outside its range
};

constexpr float kLeastPenalty = 0.01f, kGreatestPenalty = 100.0f;

// xoshiro256** seeded by four outputs of splitmix64.
class Rng {
 public:
  using State = std::array<uint64_t, 4>;
  explicit Rng(uint64_t seed);
  explicit Rng(const State& state) : s_(state) {}  // goes on where state() was asked for
  uint64_t next();
  const State& state() const { return s_; }

 private:
  State s_;
};

class Sampler {
 public:
  Sampler(const SampParams& p, uint64_t seed);  // throws what check() throws
  SampParams params;
  Rng rng;
  std::vector<float> work;         // numerators
  std::vector<float> penalised;    // the logits with the penalties on them
  std::vector<uint32_t> order;     // candidates, then the best of them in order
  bool warned_not_finite = false;  // some logits were NaN or infinite and left out
};

// One token. `context`: the ids so far, of which the last repeat_last_n are penalised, each once however often it is there:
// a positive logit is divided by the penalty, another multiplied (one f32 operation, held within the finite floats). Then the rest:
// temperature 0 draws nothing, any other draws once. Logits that are NaN or infinite take no part (their numerator
// is 0) and set warned_not_finite. Throws Error when no logit is finite. A temperature so low that 1 / temp overflows counts
// with the greatest float in its place.
int32_t samp_pick(Sampler& s, const KernTable& kern, std::span<const float> logits, std::span<const int32_t> context = {});

}  // namespace nyb
