// draft.cpp - where to look, and whether it pays.
#include "engine/draft.h"

#include <algorithm>

namespace nyb {
namespace {

constexpr size_t kLongest = 4, kShortest = 2;         // ids in a row that a place is found by
constexpr double kFade = 0.9;                         // of what was seen, with each pass that guessed
constexpr double kForget = 0.99;                      // and with each that might have: after a while it is tried again
constexpr double kPriorRight = 1.2, kPriorTried = 2;  // as if seen before
constexpr double kPriorStep = 0.1;                    // what a guess adds to the time of a pass, until one was measured
constexpr double kNewest = 0.25;                      // weight of the newest time

// Where the ids go on after the newest earlier place of their own last `n`; 0: there is none.
size_t place(std::span<const int32_t> ids, size_t n) {
  if (ids.size() <= n) return 0;
  const auto end = ids.subspan(ids.size() - n);
  for (size_t at = ids.size() - n; at-- > 0;)
    if (std::equal(end.begin(), end.end(), ids.begin() + static_cast<std::ptrdiff_t>(at))) return at + n;
  return 0;
}

}  // namespace

double Drafter::chance() const { return (right_ + kPriorRight) / (tried_ + kPriorTried); }

// Of a pass with so many guesses, in passes without. One that was not measured is put on the line through the nearest that was.
double Drafter::cost(size_t guesses) const {
  if (seconds_[guesses] > 0) return seconds_[guesses] / seconds_[0];
  double step = kPriorStep;
  for (size_t away = kMost; away > 0; away--)
    for (const size_t k : {guesses - std::min(guesses, away), guesses + away})
      if (k > 0 && k <= kMost && seconds_[k] > 0) step = std::max(0.0, seconds_[k] / seconds_[0] - 1) / static_cast<double>(k);
  return 1 + step * static_cast<double>(guesses);
}

// How many guesses give the most tokens in the least time; 0: none does better than none.
size_t Drafter::worth(size_t most) const {
  if (seconds_[0] <= 0) return 0;
  double tokens = 1, likely = 1, best_speed = 1;
  size_t best = 0;
  for (size_t k = 1; k <= most; k++) {
    likely *= chance();
    tokens += likely;
    const double speed = tokens / cost(k);
    if (speed > best_speed) {
      best_speed = speed;
      best = k;
    }
  }
  return best;
}

std::vector<int32_t> Drafter::guess(std::span<const int32_t> ids, size_t most) {
  size_t from = 0;
  for (size_t n = kLongest; n >= kShortest && from == 0; n--) from = place(ids, n);
  if (from == 0) return {};
  most = std::min(most, kMost);
  const size_t count = always_ ? most : worth(most);
  if (count == 0) {
    right_ *= kForget;
    tried_ *= kForget;
  }
  std::vector<int32_t> out;
  for (size_t i = 0; i < count; i++) out.push_back(from + i < ids.size() ? ids[from + i] : out[from + i - ids.size()]);
  return out;
}

void Drafter::timed(size_t guesses, double seconds) {
  double& s = seconds_[std::min(guesses, kMost)];
  s = s > 0 ? s + kNewest * (seconds - s) : seconds;
}

void Drafter::scored(size_t guesses, size_t right) {
  right_ = kFade * right_ + static_cast<double>(right);
  tried_ = kFade * tried_ + static_cast<double>(right + (right < guesses ? 1 : 0));  // those after a wrong one were not tried
}

}  // namespace nyb
