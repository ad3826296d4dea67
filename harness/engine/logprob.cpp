// logprob.cpp - log-softmax, in double.
#include "engine/logprob.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace nyb {
namespace {

constexpr double kNone = -std::numeric_limits<double>::infinity();
double finite_or_none(float l) { return std::isfinite(l) ? l : kNone; }

}  // namespace

double log_sum_exp(std::span<const float> logits) {
  double top = kNone;
  for (const float l : logits) top = std::max(top, finite_or_none(l));
  if (top == kNone) return kNone;
  double sum = 0;
  for (const float l : logits) sum += std::exp(finite_or_none(l) - top);
  return top + std::log(sum);
}

LogProb logprob_of(std::span<const float> logits, int32_t id) {
  const double l = finite_or_none(logits[static_cast<size_t>(id)]);
  return {id, l == kNone ? kNone : l - log_sum_exp(logits)};
}

std::vector<LogProb> top_logprobs(std::span<const float> logits, size_t n) {
  std::vector<int32_t> ids(logits.size());
  std::iota(ids.begin(), ids.end(), 0);
  n = std::min(n, ids.size());
  const auto value = [&](int32_t id) { return finite_or_none(logits[static_cast<size_t>(id)]); };
  std::partial_sort(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(n), ids.end(),
                    [&](int32_t a, int32_t b) { return value(a) > value(b) || (value(a) == value(b) && a < b); });
  const double all = log_sum_exp(logits);
  std::vector<LogProb> best;
  best.reserve(n);
  for (size_t i = 0; i < n; i++) best.push_back({ids[i], value(ids[i]) == kNone ? kNone : value(ids[i]) - all});
  return best;
}

}  // namespace nyb
