// signal_mask.h - signals that the calling thread does not take for a while.
#pragma once
#include <csignal>
#include <initializer_list>

namespace nyb {

inline sigset_t signal_set(std::initializer_list<int> signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int s : signals) sigaddset(&set, s);
  return set;
}

// While it lives these are blocked, beside those that are. Safe in a signal handler.
class SignalsBlocked {
 public:
  explicit SignalsBlocked(const sigset_t& set) { pthread_sigmask(SIG_BLOCK, &set, &before_); }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  const sigset_t& before() const { return before_; }

 private:
  sigset_t before_{};
};

}  // namespace nyb
