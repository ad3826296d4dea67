// interval.h - how much faster one thing is than another, and how sure that is with few samples.
//
// No distribution of the samples is assumed. The point and the interval belong together: both are made of the ordered ratios of two
// samples, and the interval is the exact one of the rank test that goes with them. Sources: J. L. Hodges, E. L. Lehmann, "Estimates
// of location based on rank tests" (Annals of Mathematical Statistics 34, 1963); M. Hollander, D. A. Wolfe, "Nonparametric
// Statistical Methods" (2nd edition, 1999), sections 3.3 (signed ranks) and 4.3 (rank sums).
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace nyb {

constexpr double kConfidence = 0.95;

struct RatioInterval {
  double ratio = 1, low = 1, high = 1;  // new / old
  double confidence = 0;                // of the interval: at least kConfidence, else the most that so few samples can give

  bool enough() const { return confidence >= kConfidence; }
  bool differs() const { return enough() && (low > 1 || high < 1); }
  std::string range() const;         // "0.981 to 1.020", and its confidence where that is too little
  std::string_view verdict() const;  // "faster", "slower", "no difference seen", "too few samples"
};

// Two sets of samples of their own, such as two runs: the median of all ratios new[j] / old[i], and the interval of the rank-sum
// test of Mann and Whitney. 95 % takes four samples of each (or 3 and 5, ...). Neither is empty, all are positive.
RatioInterval ratio_of_sets(const std::vector<double>& old, const std::vector<double>& now);

// Ratios of pairs, each measured side by side: the median of the geometric means of all two of them (each with itself too), and the
// interval of Wilcoxon's signed-rank test. 95 % takes six. Not empty, all positive.
RatioInterval ratio_of_pairs(const std::vector<double>& ratios);

}  // namespace nyb
