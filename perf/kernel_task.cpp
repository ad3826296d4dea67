// kernel_task.cpp - from the options to the report.
#include "kernel_task.h"
#include <fmt/format.h>
#include <algorithm>
#include <memory>
#include <utility>
#include "benches.h"
#include "common/app.h"
#include "kernel_bench.h"
#include "kernel_report.h"
#include "machine.h"
#include "paths.h"
#include "registered.h"

namespace nyb {
namespace {

bool has(const std::vector<std::string>& words, std::string_view option) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& w) { return w.starts_with(option); });
}

void report(const CpuFeatures& cpu, bool kernels, Mca& mca, std::vector<std::string> notes, ReportFormat format,
            const Machine& machine) {
  const bool lines = format == ReportFormat::md;
  bool headed = false;
  std::vector<KernelRow> rows;
  KernelReporter reporter([&](KernelRow r) {
    if (lines)
      out_write((std::exchange(headed, true) ? "" : kernel_head(notes, machine)) + kernel_line(r));
    else
      rows.push_back(std::move(r));
  });
  run_registered(cpu, kernels, &reporter);
  for (const std::string& p : mca.problems()) {
    notes.push_back(p);
    if (lines) out_write(human_words(p) + "\n");
  }
  if (!lines) out_write(kernel_json(rows, notes, machine));
}

}  // namespace

void run_kernel_task(const CpuFeatures& cpu, const std::vector<Path>& asked, const std::vector<std::string>& words,
                     ReportFormat format, const std::string& command) {
  std::vector<std::string> args = {program_name()};
  for (const std::string& w : words) {
    if (!w.starts_with("--benchmark_") && !w.starts_with("--v="))
      throw UsageError(fmt::format("there is no option '{}' (see {} --help)", w, program_name()));
    args.push_back(w);
  }
  std::vector<std::string> notes;
  const std::vector<Path> paths = measured_paths(cpu, asked, notes);
  const auto mca = std::make_shared<Mca>();
  if (!paths.empty()) notes.push_back(mca->what());
  for (const std::string& kernel : register_kernels(paths, mca)) notes.push_back(kernel + ": has no call to measure");
  if (asked.empty()) register_fork_join();
  registered_options(std::move(args));
  const bool list = has(words, "--benchmark_list_tests");
  if (!list) check_kernels(paths);
  if (list || has(words, "--benchmark_format"))
    run_registered(cpu, !paths.empty());
  else
    report(cpu, !paths.empty(), *mca, std::move(notes), format, machine_here(command));
}

}  // namespace nyb
