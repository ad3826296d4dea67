// draft.h - guesses at the next tokens, from what was said before (prompt lookup): one pass over the weights then checks several
// tokens at once. Since a batch has the logits of its tokens one by one, to the last bit, a right guess changes nothing but the
// time and a wrong one is only dropped.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace nyb {

class Drafter {
 public:
  static constexpr size_t kMost = 8;  // guesses of one pass

  // always: guess wherever something was said before; else only where passes so far say that it saves time.
  explicit Drafter(bool always) : always_(always) {}

  // At most min(most, kMost) ids that may follow `ids`: those that followed the newest earlier place where the last four, three or
  // two of them stand; what runs past the end goes round. Empty: nothing was said before, or it would not pay.
  std::vector<int32_t> guess(std::span<const int32_t> ids, size_t most);

  // A pass of 1 + guesses tokens took so many seconds.
  void timed(size_t guesses, double seconds);
  // So many of the guesses of a pass were right, from the first on.
  void scored(size_t guesses, size_t right);

 private:
  double chance() const;
  double cost(size_t guesses) const;
  size_t worth(size_t most) const;

  bool always_;
  double right_ = 0, tried_ = 0;             // guesses, the older the less they count
  std::array<double, kMost + 1> seconds_{};  // of a pass, by its guesses; 0: none yet
};

}  // namespace nyb
