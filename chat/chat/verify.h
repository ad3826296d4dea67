// verify.h - is the file whole, and does every kernel path of this CPU compute what the reference computes?
#pragma once
#include "chat/runtime.h"
#include "kern/cpu.h"

namespace nyb {

// Prints one line for the file and one for each path: equal to the reference, different (naming the kernels), or what the CPU
// lacks. Returns 0, or 1 when anything differs.
int verify_run(const Runtime& r, const CpuFeatures& cpu);

}  // namespace nyb
