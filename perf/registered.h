// registered.h - the benchmarks that Google Benchmark runs, with the manners of the other programs.
#pragma once
#include <benchmark/benchmark.h>
#include <functional>
#include <string>
#include <vector>
#include "kern/cpu.h"

namespace nyb {

// Reads Google Benchmark's own options, given[1] and on (given[0] is the program), and the environment in their place, such as
// BENCHMARK_OUT. Throws UsageError for one that it does not know or whose value it cannot read, Error for a file for the results
// that cannot be written.
void registered_options(std::vector<std::string> given);

// Registers benchmarks that are worth comparing with each other.
using Registers = std::vector<std::function<void()>>;

// Runs (or lists) what the filter among those options lets through, and tells it as those options say. `kernels`: some are
// registered; else it says on stderr what `cpu` lacks, so that what is left is not taken for all. `left_out` says what is not
// registered for the options' sake, in parentheses, where a filter finds nothing; it may be empty. Throws UsageError for a filter
// that is no regular expression, Error for one that lets nothing through, and where standard output or the file for the results
// cannot be written; ends the program quietly where nobody reads it any more.
void run_registered(const CpuFeatures& cpu, bool kernels, const std::string& left_out, const Registers& all);

// The same for a reporter of our own: group after group, `done` after each; in one go where the options name a file for the results
// as well.
void run_groups(const CpuFeatures& cpu, bool kernels, const std::string& left_out, const Registers& groups,
                benchmark::BenchmarkReporter& display, const std::function<void()>& done);

// Runs all that is registered, its repetitions in an order drawn at random, and tells nothing: the benchmarks keep their results.
void run_interleaved();

}  // namespace nyb
