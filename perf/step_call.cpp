// step_call.cpp - the flag is set in what the handler returns to, and taken back by it.
#include "step_call.h"
#include <csignal>

namespace nyb {
namespace {

constexpr greg_t kTrapFlag = 0x100;

volatile bool on = false;
OnStep told = nullptr;

void on_trap(int, siginfo_t*, void* context) {
  greg_t* const regs = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  if (!on) {
    regs[REG_EFL] &= ~kTrapFlag;
    return;
  }
  regs[REG_EFL] |= kTrapFlag;
  told(regs);
}

}  // namespace

void step_call(OnStep each, const std::function<void()>& call) {
  struct sigaction ours {
  }, before{};
  ours.sa_sigaction = on_trap;
  ours.sa_flags = SA_SIGINFO;
  sigaction(SIGTRAP, &ours, &before);
  told = each;
  on = true;
  raise(SIGTRAP);  // from its return on
  call();
  on = false;
  sigaction(SIGTRAP, &before, nullptr);  // by now the handler has taken the flag back
}

}  // namespace nyb
