// spread.h - how far the samples of a row lie apart, and from where on they say little.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace nyb {

constexpr double kNoisySpread = 0.10;  // above it a row is called noisy

double spread_of(const std::vector<double>& samples);  // (greatest - least) / median; 0 where there is none
inline bool noisy(const std::vector<double>& samples) { return spread_of(samples) > kNoisySpread; }

// "2 of 8 rows spread by more than 10 %: ..." and a new line; empty where none does.
std::string noisy_words(size_t noisy_rows, size_t rows);

// The same, where a row has its samples in a member.
template <class Rows, class Samples>
std::string noisy_words(const Rows& rows, const Samples& samples) {
  size_t n = 0;
  for (const auto& r : rows) n += noisy(samples(r));
  return noisy_words(n, rows.size());
}

}  // namespace nyb
