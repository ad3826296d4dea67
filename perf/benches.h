// benches.h - what Google Benchmark runs besides the kernels (kernel_bench.h).
#pragma once
#include <functional>
#include <vector>

namespace nyb {

// What it costs to hand work to the threads: each registers benchmarks that are worth comparing.
std::vector<std::function<void()>> fork_join_groups();

}  // namespace nyb
