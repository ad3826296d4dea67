// interval.cpp - order statistics of ratios, and the exact distributions that choose among them.
#include "interval.h"
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <cstddef>

namespace nyb {
namespace {

// Samples up to which the distribution is counted out; beyond, it is normal for all purposes. Of two sets the smaller decides as
// well.
constexpr size_t kExact = 50, kFew = 12;
constexpr double kNormal = 1.9599;  // of both tails together 5 % lie beyond

// How many of the smallest (and of the greatest) of `statistics` ordered ratios the interval leaves out, and how sure it then is.
struct Cut {
  size_t out = 0;
  double confidence = 0;
};

// `ways[k]`: in how many orders of the samples, all equally likely where nothing differs, the rank statistic is k.
Cut exact_cut(const std::vector<double>& ways) {
  double all = 0;
  for (const double w : ways) all += w;
  Cut best{0, 1 - 2 * ways[0] / all};  // the whole range: it is missed where all ranks are on one side
  double below = ways[0];
  for (size_t k = 1; 2 * k < ways.size(); ++k) {
    below += ways[k];
    const double confidence = 1 - 2 * below / all;
    if (confidence < kConfidence) break;
    best = {k, confidence};
  }
  return best;
}

Cut normal_cut(double mean, double variance) {
  return {static_cast<size_t>(std::max(0.0, std::floor(mean - 0.5 - kNormal * std::sqrt(variance)))), kConfidence};
}

// ways[u]: choices of n of the ranks 1..n+m whose sum is u above the least. Added rank by rank, as for a Gaussian binomial.
std::vector<double> rank_sum_ways(size_t n, size_t m) {
  // part[i][u]: i ranks chosen so far
  std::vector<std::vector<double>> part(n + 1, std::vector<double>(n * m + 1));
  part[0][0] = 1;
  for (size_t rank = 1; rank <= n + m; ++rank)
    for (size_t i = std::min(rank, n); i >= 1; --i) {
      const size_t add = rank - i;  // above i, the least that the i-th chosen rank can be
      for (size_t u = n * m + 1; u-- > add;) part[i][u] += part[i - 1][u - add];
    }
  return part[n];
}

// ways[t]: sets of the ranks 1..n whose sum is t.
std::vector<double> signed_rank_ways(size_t n) {
  std::vector<double> ways(n * (n + 1) / 2 + 1);
  ways[0] = 1;
  for (size_t rank = 1; rank <= n; ++rank)
    for (size_t t = ways.size(); t-- > rank;) ways[t] += ways[t - rank];
  return ways;
}

// `logs` of the ratios, in any order.
RatioInterval interval(std::vector<double> logs, const Cut& cut) {
  std::sort(logs.begin(), logs.end());
  const size_t n = logs.size(), out = std::min(cut.out, (n - 1) / 2);
  RatioInterval r;
  r.ratio = std::exp(0.5 * (logs[(n - 1) / 2] + logs[n / 2]));
  r.low = std::exp(logs[out]);
  r.high = std::exp(logs[n - 1 - out]);
  r.confidence = cut.confidence;
  return r;
}

}  // namespace

std::string_view RatioInterval::verdict() const {
  if (!enough()) return "too few samples";
  return !differs() ? "no difference seen" : ratio > 1 ? "faster" : "slower";
}

std::string RatioInterval::range() const {
  return fmt::format("{:.3f} to {:.3f}", low, high) + (enough() ? "" : fmt::format(" ({:.0f} %)", 100 * confidence));
}

RatioInterval ratio_of_sets(const std::vector<double>& old, const std::vector<double>& now) {
  std::vector<double> logs;
  logs.reserve(old.size() * now.size());
  for (const double a : old)
    for (const double b : now) logs.push_back(std::log(b) - std::log(a));
  const auto [few, many] = std::minmax({old.size(), now.size()});
  const auto n = static_cast<double>(few), m = static_cast<double>(many);
  return interval(std::move(logs), few <= kFew || many <= kExact ? exact_cut(rank_sum_ways(few, many))
                                                                 : normal_cut(n * m / 2, n * m * (n + m + 1) / 12));
}

RatioInterval ratio_of_pairs(const std::vector<double>& ratios) {
  std::vector<double> logs;
  for (size_t i = 0; i < ratios.size(); ++i)
    for (size_t j = i; j < ratios.size(); ++j) logs.push_back(0.5 * (std::log(ratios[i]) + std::log(ratios[j])));
  const auto n = static_cast<double>(ratios.size());
  return interval(std::move(logs), ratios.size() <= kExact ? exact_cut(signed_rank_ways(ratios.size()))
                                                           : normal_cut(n * (n + 1) / 4, n * (n + 1) * (2 * n + 1) / 24));
}

}  // namespace nyb
