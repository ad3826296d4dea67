// kernel_task.h - perf --kernels.
#pragma once
#include <string>
#include <vector>
#include "kern/cpu.h"
#include "kern/kern.h"
#include "sweep_report.h"

namespace nyb {

// Measures what `words`, options of Google Benchmark, let through of the kernels on the paths asked for (none: all of `cpu` but
// ref) and of fork and join (without paths alone), and writes it to standard output: md or json, or as --benchmark_format says.
// Throws Error naming a path whose kernels are not the reference's, UsageError for an option that is not Google Benchmark's.
void run_kernel_task(const CpuFeatures& cpu, const std::vector<Path>& asked, const std::vector<std::string>& words,
                     ReportFormat format, const std::string& command);

}  // namespace nyb
