// registered.h - the benchmarks that Google Benchmark runs, with the manners of the other programs.
#pragma once
#include <benchmark/benchmark.h>
#include <string>
#include <vector>
#include "kern/cpu.h"

namespace nyb {

// Reads Google Benchmark's own options, given[1] and on (given[0] is the program), and the environment in their place, such as
// BENCHMARK_OUT. Throws UsageError for one that it does not know or whose value it cannot read, Error for a file for the results
// that cannot be written.
void registered_options(std::vector<std::string> given);

// Runs (or lists) what the filter among those options lets through. `kernels`: some are registered; else it says on stderr what
// `cpu` lacks, so that what is left is not taken for all. Throws Error for a filter that is no regular expression or lets nothing
// through, and where standard output cannot be written; ends the program quietly where nobody reads it any more. `display` tells
// what was measured; nullptr: as Google Benchmark's own options say.
void run_registered(const CpuFeatures& cpu, bool kernels, benchmark::BenchmarkReporter* display = nullptr);

// Runs all that is registered, its repetitions in an order drawn at random, and tells nothing: the benchmarks keep their results.
void run_interleaved();

}  // namespace nyb
