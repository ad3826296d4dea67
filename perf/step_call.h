// step_call.h - a call gone through instruction by instruction, by the processor's trap flag.
#pragma once
#include <ucontext.h>
#include <functional>

namespace nyb {

// Told the registers (REG_RIP and so on) before an instruction; a signal's handler, so it allocates nothing.
using OnStep = void (*)(const greg_t* regs);

// Runs call(): SIGTRAP stops it at every instruction (some microseconds each), of the code around it as well. Never told where the
// system delivers no such signal. One at a time in a process.
void step_call(OnStep each, const std::function<void()>& call);

}  // namespace nyb
