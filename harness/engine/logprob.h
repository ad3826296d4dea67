// logprob.h - how likely a token was. For reading only: the logarithms are the C library's and decide nothing.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace nyb {

// log of the sum of exp(logit) in double precision. Logits that are NaN or infinite take no part; -infinity when none does.
double log_sum_exp(std::span<const float> logits);

struct LogProb {
  int32_t id;
  double value;  // natural logarithm of the softmax at temperature 1
};

LogProb logprob_of(std::span<const float> logits, int32_t id);

// The n most likely tokens (fewer where the vocabulary is smaller), best first, the lower id on ties; logits that are not finite
// come last, with -infinity.
std::vector<LogProb> top_logprobs(std::span<const float> logits, size_t n);

}  // namespace nyb
