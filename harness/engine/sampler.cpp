// sampler.cpp - the passes over the vocabulary are kernels; what is left is choosing and ordering a few candidates.
#include "engine/sampler.h"

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "kern/error.h"
#include "kern/mxcsr.h"

namespace nyb {
namespace {

void in_range(const char* name, float v, float most) {
  if (std::isfinite(v) && v >= 0 && v <= most) return;
  const char* upto = most == FLT_MAX ? "not negative" : "0 to 1";
  throw Error(fmt::format("{} is {}, but it must be a finite number, {}", name, v, upto));
}

// A logit that is not finite stays as it is.
float penalised(float logit, float penalty) {
  if (!std::isfinite(logit)) return logit;
  return std::clamp(logit > 0 ? logit / penalty : logit * penalty, -FLT_MAX, FLT_MAX);
}

// The logits with the penalties on them: the caller's own where there are none, else a copy.
std::span<const float> penalised_logits(Sampler& s, std::span<const float> logits, std::span<const int32_t> context) {
  const SampParams& p = s.params;
  const std::span<const int32_t> last = context.last(std::min<size_t>(context.size(), p.repeat_last_n));
  if (p.repeat_penalty == 1 || last.empty()) return logits;
  s.penalised.assign(logits.begin(), logits.end());
  for (const int32_t id : last)
    if (const auto i = static_cast<size_t>(id); i < logits.size()) s.penalised[i] = penalised(logits[i], p.repeat_penalty);
  return s.penalised;
}

// The logits that take part and their greatest. Where all are finite these are the caller's own; else a copy in s.work in
// which the others are -infinity, whose numerator is +0 like that of any logit far below the greatest.
std::span<const float> finite_logits(Sampler& s, const KernTable& kern, std::span<const float> logits, float& max) {
  if (logits.empty()) throw Error("there are no logits to choose a token from");
  if (kern.vec_max(logits.data(), &max, logits.size()) == 0) return logits;
  constexpr float none = -std::numeric_limits<float>::infinity();
  max = none;
  s.work.resize(logits.size());
  for (size_t i = 0; i < logits.size(); i++) {
    s.work[i] = std::isfinite(logits[i]) ? logits[i] : none;
    max = std::max(max, s.work[i]);
  }
  if (max == none)
    throw Error(
        fmt::format("none of the {} logits is a finite number: the model's weights or its file are damaged", logits.size()));
  s.warned_not_finite = true;
  max += 0.0f;  // as vec_max has it
  return s.work;
}

// The candidates in order, best first (logit descending, id ascending), found a stretch at a time: what comes after the last
// one that matters is never sorted.
class Ranking {
 public:
  Ranking(std::vector<uint32_t>& order, const KernTable& kern, std::span<const float> logits, size_t keep)
      : order_(order), logits_(logits), keep_(keep) {
    if (keep < logits.size()) {
      best_of(kern, keep);
    } else {
      order_.resize(logits.size());
      std::iota(order_.begin(), order_.end(), 0u);
    }
  }
  size_t size() const { return keep_; }
  uint32_t at(size_t rank) {
    while (rank >= sorted_) sort_more();
    return order_[rank];
  }

 private:
  bool before(uint32_t a, uint32_t b) const { return logits_[a] > logits_[b] || (logits_[a] == logits_[b] && a < b); }

  // One pass with a heap of `keep` whose root is the worst kept: the kernel passes over what is not above it.
  void best_of(const KernTable& kern, size_t keep) {
    const auto less = [this](uint32_t a, uint32_t b) { return before(a, b); };
    order_.resize(keep);
    std::iota(order_.begin(), order_.end(), 0u);
    std::make_heap(order_.begin(), order_.end(), less);
    const size_t n = logits_.size();
    for (size_t i = keep;; i++) {
      i += kern.vec_above(logits_.data() + i, n - i, logits_[order_.front()]);  // a tie goes to the lower id, which is in already
      if (i == n) break;
      std::pop_heap(order_.begin(), order_.end(), less);
      order_.back() = static_cast<uint32_t>(i);
      std::push_heap(order_.begin(), order_.end(), less);
    }
  }

  void sort_more() {
    const auto less = [this](uint32_t a, uint32_t b) { return before(a, b); };
    const size_t next = std::min(order_.size(), std::max<size_t>(64, sorted_ * 4));
    const auto from = order_.begin() + static_cast<ptrdiff_t>(sorted_), to = order_.begin() + static_cast<ptrdiff_t>(next);
    if (to != order_.end()) std::nth_element(from, to, order_.end(), less);
    std::sort(from, to, less);
    sorted_ = next;
  }

  std::vector<uint32_t>& order_;
  std::span<const float> logits_;
  size_t keep_, sorted_ = 0;
};

// How many of the ranked candidates stay, and the sum of their numerators.
struct Kept {
  size_t count;
  float sum;
};

Kept keep_best(const SampParams& p, Ranking& rank, std::span<const float> numerators, float total) {
  const float least = p.min_p * numerators[rank.at(0)], enough = p.top_p * total;
  float sum = 0;
  size_t n = 0;
  while (n < rank.size()) {
    const float e = numerators[rank.at(n)];
    if (n > 0 && (e < least || e == 0)) break;  // e falls with the logit, and those of +0 are never drawn
    sum += e;
    n++;
    if (p.top_p < 1 && sum >= enough) break;
  }
  return {n, sum};
}

// The first of the greatest: the first above the float before it.
int32_t greedy(const KernTable& kern, std::span<const float> logits, float max) {
  const uint32_t bits = std::bit_cast<uint32_t>(max);
  const float below = std::bit_cast<float>(max > 0 ? bits - 1 : max < 0 ? bits + 1 : 0x80000001u);
  return static_cast<int32_t>(kern.vec_above(logits.data(), logits.size(), below));
}

}  // namespace

void SampParams::check() const {
  in_range("temperature", temp, FLT_MAX);
  in_range("top-p", top_p, 1);
  in_range("min-p", min_p, 1);
  if (!(repeat_penalty >= kLeastPenalty && repeat_penalty <= kGreatestPenalty))
    throw Error(fmt::format("repeat-penalty is {}, but it must be a number from {} to {}", repeat_penalty, kLeastPenalty,
                            kGreatestPenalty));
}

Sampler::Sampler(const SampParams& p, uint64_t seed) : params(p), rng(seed) { params.check(); }

int32_t samp_pick(Sampler& s, const KernTable& kern, std::span<const float> logits, std::span<const int32_t> context) {
  const MxcsrScope scope;
  logits = penalised_logits(s, logits, context);
  float max = 0;
  logits = finite_logits(s, kern, logits, max);
  if (s.params.temp == 0) return greedy(kern, logits, max);

  const size_t n = logits.size(), k = s.params.top_k;
  Ranking rank(s.order, kern, logits, k > 0 && k < n ? k : n);
  // Where the logits are a copy in s.work the numerators go elsewhere: the ranking still reads them.
  std::vector<float> apart;
  std::vector<float>& numerators = logits.data() == s.work.data() ? apart : s.work;
  numerators.resize(n);
  const float total = kern.softmax_num(logits.data(), numerators.data(), n, max, std::min(1.0f / s.params.temp, FLT_MAX));
  const Kept kept = keep_best(s.params, rank, numerators, total);

  const float u = static_cast<float>(s.rng.next() >> 40) * 0x1p-24f, goal = u * kept.sum;
  float sum = 0;
  for (size_t i = 0; i < kept.count; i++)
    if ((sum += numerators[rank.at(i)]) > goal) return static_cast<int32_t>(rank.at(i));
  return static_cast<int32_t>(rank.at(kept.count - 1));
}

}  // namespace nyb
