// spread.cpp - the range of samples.
#include "spread.h"
#include <fmt/format.h>
#include <algorithm>
#include "probe/probe.h"

namespace nyb {

double spread_of(const std::vector<double>& samples) {
  const auto [low, high] = std::minmax_element(samples.begin(), samples.end());
  return samples.empty() ? 0 : (*high - *low) / median(samples);
}

std::string noisy_words(size_t noisy_rows, size_t rows) {
  if (noisy_rows == 0) return {};
  return fmt::format(
      "{} of {} rows spread by more than {:.0f} %: the machine was busy, and only ratios within this run say anything\n",
      noisy_rows, rows, 100 * kNoisySpread);
}

}  // namespace nyb
