// bench_paths.h - registers a benchmark for each path of a CPU that has a body of its own.
#pragma once
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include "kern/cpu.h"
#include "own_body.h"

namespace nyb {

// f(benchmark::State&, const KernTable&), named KERNEL/PATH/what. A path that inherits another's body is left out.
template <class F>
void bench_paths(const CpuFeatures& cpu, std::string_view kernel, std::string_view what, F f) {
  for (const Path p : kAllPaths) {
    if (p == Path::ref || !own_body(kernel, p) || !cpu_missing(cpu, p).empty()) continue;
    const std::string name = fmt::format("{}/{}/{}", kernel, path_name(p), what);
    benchmark::RegisterBenchmark(name.c_str(), [f, &k = kern_table(p)](benchmark::State& s) { f(s, k); });
  }
}

inline void bytes_per_pass(benchmark::State& s, size_t bytes) {
  s.SetBytesProcessed(static_cast<int64_t>(s.iterations()) * static_cast<int64_t>(bytes));
}

}  // namespace nyb
