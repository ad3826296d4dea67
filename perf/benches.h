// benches.h - what Google Benchmark runs besides the kernels (kernel_bench.h).
#pragma once

namespace nyb {

// What it costs to hand work to the threads.
void register_fork_join();

}  // namespace nyb
