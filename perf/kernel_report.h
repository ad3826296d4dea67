// kernel_report.h - what Google Benchmark measured, in perf's own table and JSON.
#pragma once
#include <benchmark/benchmark.h>
#include <functional>
#include <map>
#include <string>
#include <vector>
#include "machine.h"

namespace nyb {

// The repetitions of a benchmark.
struct KernelRow {
  std::string name;                                     // "gemv_q8/avx2/768x768/warm", "fork_join_all/threads:2/real_time"
  std::string problem;                                  // why it was not run; else empty
  std::vector<double> nanoseconds;                      // of a call, a sample a repetition
  std::map<std::string, std::vector<double>> counters;  // those of kernel_bench.h
};

// Tells each row as soon as it is there. Throws Interrupted out of Google Benchmark.
class KernelReporter : public benchmark::BenchmarkReporter {
 public:
  explicit KernelReporter(std::function<void(KernelRow)> row) : row_(std::move(row)) {}
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override;

 private:
  std::function<void(KernelRow)> row_;
};

// md, line by line, so that it can be followed; medians of the samples. `notes`: a line each, above the table.
std::string kernel_head(const std::vector<std::string>& notes, const Machine& m);
std::string kernel_line(const KernelRow& r);

std::string kernel_json(const std::vector<KernelRow>& rows, const std::vector<std::string>& notes, const Machine& m);

}  // namespace nyb
