// program.h - the perf program as a function, so that a test can run the whole of it with another CPU's features.
#pragma once
#include "kern/cpu.h"

namespace nyb {

// What main does. `cpu` says which kernel paths may run. Returns the exit code; throws nothing.
int perf_main(int argc, char** argv, const CpuFeatures& cpu);

}  // namespace nyb
