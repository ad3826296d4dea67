// kernel_task.cpp - from the options to the report.
#include "kernel_task.h"
#include <fmt/format.h>
#include <algorithm>
#include <map>
#include <memory>
#include <tuple>
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

constexpr const char* kMinTime = "0.1";  // seconds of a sample

bool has(const std::vector<std::string>& words, std::string_view option) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& w) { return w.starts_with(option); });
}

// Rows as they come, told in the order of the list.
class Table {
 public:
  Table(std::vector<std::string> notes, ReportFormat format, const Machine& machine)
      : notes_(std::move(notes)), lines_(format == ReportFormat::md), machine_(machine) {}

  void order(const std::string& name) { order_.emplace(name, order_.size()); }
  void add(KernelRow r) { waiting_.push_back(std::move(r)); }
  void tell() {
    const auto place = [&](const KernelRow& r) {
      const auto it = order_.find(r.name);
      return std::tuple(it == order_.end() ? order_.size() : it->second, r.name);
    };
    std::sort(waiting_.begin(), waiting_.end(), [&](const KernelRow& a, const KernelRow& b) { return place(a) < place(b); });
    for (KernelRow& r : waiting_) {
      if (lines_) out_write((rows_.empty() ? kernel_head(notes_, machine_) : "") + kernel_line(r));
      rows_.push_back(std::move(r));
    }
    waiting_.clear();
  }
  void end(const std::vector<std::string>& problems) {
    for (const std::string& p : problems) {
      notes_.push_back(p);
      if (lines_) out_write(human_words(p) + "\n");
    }
    out_write(lines_ ? noisy_words(rows_, [](const KernelRow& r) { return r.nanoseconds; }) : kernel_json(rows_, notes_, machine_));
  }

 private:
  std::vector<std::string> notes_;
  bool lines_;
  const Machine& machine_;
  std::map<std::string, size_t> order_;
  std::vector<KernelRow> waiting_, rows_;
};

}  // namespace

void run_kernel_task(const CpuFeatures& cpu, const KernelTask& task, const std::string& command) {
  std::vector<std::string> args = {program_name()};
  const bool list = has(task.words, "--benchmark_list_tests"), own = !list && !has(task.words, "--benchmark_format");
  if (own)
    args.insert(args.end(), {fmt::format("--benchmark_repetitions={}", task.repetitions),
                             fmt::format("--benchmark_min_time={}", kMinTime), "--benchmark_enable_random_interleaving=true"});
  for (const std::string& w : task.words) {  // the later of two of a kind counts
    if (!w.starts_with("--benchmark_") && !w.starts_with("--v="))
      throw UsageError(fmt::format("there is no option '{}' (see {} --help)", w, program_name()));
    args.push_back(w);
  }
  std::vector<std::string> notes;
  const std::vector<Path> paths = measured_paths(cpu, task.paths, notes);
  const KernelSizes sizes = task.shapes.empty() ? usual_sizes() : shape_sizes(task.shapes);
  const auto mca = std::make_shared<Mca>();
  if (!paths.empty()) notes.push_back(mca->what());
  std::vector<std::function<void()>> registers;
  std::vector<std::string> names;
  if (!paths.empty())
    for (const KernelGroup& group : kernel_groups(paths, sizes, mca, notes)) {
      for (const KernelBench& b : group) names.push_back(b.name);
      registers.emplace_back([group] {
        for (const KernelBench& b : group) benchmark::RegisterBenchmark(b.name.c_str(), b.run);
      });
    }
  std::string left_out;
  if (task.paths.empty() && task.shapes.empty())
    for (auto& fork_join : fork_join_groups()) registers.push_back(std::move(fork_join));
  else
    left_out = "(fork and join are not measured with --kernel or --shape)";
  registered_options(std::move(args));
  if (!list) check_kernels(paths, sizes);
  if (!own) return run_registered(cpu, !paths.empty(), left_out, registers);
  const Machine machine = machine_here(command);
  Table table(std::move(notes), task.format, machine);
  for (const std::string& name : names) table.order(name);
  KernelReporter reporter([&](KernelRow r) { table.add(std::move(r)); });
  run_groups(cpu, !paths.empty(), left_out, registers, reporter, [&] { table.tell(); });
  table.end(mca->problems());
}

}  // namespace nyb
