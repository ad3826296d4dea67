// kernel_task.h - perf --kernels.
#pragma once
#include <cstdint>
#include <string>
#include <vector>
#include "kern/cpu.h"
#include "kern/kern.h"
#include "model/shapes.h"
#include "sweep_report.h"

namespace nyb {

struct KernelTask {
  std::vector<Path> paths;                 // none: all of the CPU but ref
  std::vector<const NamedShape*> shapes;   // whose matrices, vectors and heads the kernels run at; none: usual_sizes()
  uint32_t repetitions = 5;                // samples of each row, where `words` do not say
  ReportFormat format = ReportFormat::md;  // or json, or as --benchmark_format says
  std::vector<std::string> words;          // options of Google Benchmark
};

// Measures what the words let through of the kernels, and of fork and join where neither paths nor shapes are asked for (alone
// where there is no path), and writes it to standard output. A call's paths take turns at random. Throws Error naming a path whose
// kernels are not the reference's, UsageError for an option that is not Google Benchmark's.
void run_kernel_task(const CpuFeatures& cpu, const KernelTask& task, const std::string& command);

}  // namespace nyb
