// rope.cpp - the frequencies of the pairs.
#include "model/rope.h"

#include <algorithm>
#include <cmath>

#include "kern/dmath.h"

namespace nyb {
namespace {

constexpr double kTwoPi = 0x1.921fb54442d18p+2;

// Pairs that turn often within the original context stay, those that turn rarely slow down by the factor, between them it goes over
// evenly in turns.
double llama3(double freq, const RopeRule& r) {
  const double turns = r.original_ctx * freq / kTwoPi;
  if (turns > r.high_freq_factor) return freq;
  if (turns < r.low_freq_factor) return freq / r.factor;
  const double keep = (turns - r.low_freq_factor) / (r.high_freq_factor - r.low_freq_factor);
  return (1 - keep) * freq / r.factor + keep * freq;
}

// Where, as a number of pairs, one turns `turns` times within the original context.
double pair_of(double turns, uint32_t head_dim, const RopeRule& r) {
  return head_dim * det_log(r.original_ctx / (turns * kTwoPi)) / (2 * det_log(r.theta));
}

// The same idea, but it goes over evenly in pairs.
void yarn(std::vector<double>& freqs, uint32_t head_dim, const RopeRule& r) {
  double low = pair_of(r.beta_fast, head_dim, r), high = pair_of(r.beta_slow, head_dim, r);
  if (r.truncate) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, head_dim - 1.0);
  if (low == high) high += 0.001;  // as there
  for (size_t i = 0; i < freqs.size(); i++) {
    const double slow = std::clamp((static_cast<double>(i) - low) / (high - low), 0.0, 1.0);
    freqs[i] = freqs[i] / r.factor * slow + freqs[i] * (1 - slow);
  }
}

}  // namespace

std::vector<double> rope_frequencies(const RopeRule& r, uint32_t head_dim) {
  std::vector<double> freqs(head_dim / 2);
  for (uint32_t i = 0; i < freqs.size(); i++) freqs[i] = det_pow(r.theta, -2.0 * i / head_dim);
  switch (r.scaling) {
    case RopeScaling::none: break;
    case RopeScaling::linear:
      for (double& f : freqs) f = f / r.factor;
      break;
    case RopeScaling::llama3:
      for (double& f : freqs) f = llama3(f, r);
      break;
    case RopeScaling::yarn: yarn(freqs, head_dim, r); break;
  }
  return freqs;
}

double yarn_magnitude(double factor, double weight) { return factor <= 1 ? 1 : 0.1 * weight * det_log(factor) + 1; }

}  // namespace nyb
