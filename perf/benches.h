// benches.h - what Google Benchmark runs.
#pragma once
#include "kern/cpu.h"

namespace nyb {

// Each registers its benchmarks: the kernels' for every path that `cpu` can run and that has a body of its own.
void register_gemv(const CpuFeatures& cpu);
void register_vec(const CpuFeatures& cpu);
void register_fork_join();

}  // namespace nyb
