// waking.cpp - handlers that only set flags.
#include "chat/waking.h"
#include <atomic>
#include "common/app.h"

namespace nyb {
namespace {

constexpr int kSignals[] = {SIGTSTP, SIGCONT, SIGWINCH};
std::atomic<bool> came[3];

extern "C" void on_waking(int sig) {
  for (size_t i = 0; i < 3; ++i)
    if (kSignals[i] == sig) came[i] = true;
}

}  // namespace

Waking::Waking() {
  for (size_t i = 0; i < 3; ++i) {
    came[i] = false;
    sigaction(kSignals[i], nullptr, &before_[i]);
  }
  handle();
}

Waking::~Waking() {
  for (size_t i = 0; i < 3; ++i) sigaction(kSignals[i], &before_[i], nullptr);
}

void Waking::handle() {
  for (size_t i = 0; i < 3; ++i) {
    if (before_[i].sa_handler == SIG_IGN) continue;  // a shell without job control
    struct sigaction act {};
    act.sa_handler = on_waking;
    sigemptyset(&act.sa_mask);
    act.sa_flags = SA_RESTART;
    sigaction(kSignals[i], &act, nullptr);
  }
}

bool Waking::any() { return interrupted() || came[0] || came[1] || came[2]; }
bool Waking::stop() { return came[0].exchange(false); }
bool Waking::resumed() { return came[1].exchange(false); }
bool Waking::resized() { return came[2].exchange(false); }

void Waking::stop_here() {
  std::signal(SIGTSTP, SIG_DFL);
  (void)std::raise(SIGTSTP);
  handle();
  came[1] = false;  // the return is the caller's to answer
}

}  // namespace nyb
