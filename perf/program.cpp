// program.cpp - perf: benchmarks of the kernels, and how close the products come to the memory's limit.
#include "program.h"
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <utility>
#include "breakdown_report.h"
#include "common/app.h"
#include "common/options.h"
#include "kernel_task.h"
#include "list.h"
#include "model/shapes.h"
#include "ratio.h"
#include "sweep.h"
#include "sweep_model.h"
#include "sweep_report.h"
#include "tasks.h"
#include "weights.h"

namespace nyb {
namespace {

TType type_of(const std::string& name) {
  std::string names;
  for (const TType t : kMatrixTypes) {
    if (ttype_name(t) == name) return t;
    names += (names.empty() ? "" : ", ") + std::string(ttype_name(t));
  }
  throw Error(fmt::format("--type takes {}, not '{}'", names, human_words(name)));
}

LoadMode load_of(const std::string& name) {
  for (const LoadMode l : {LoadMode::map, LoadMode::huge})
    if (load_name(l) == name) return l;
  throw Error(fmt::format("--load takes map and huge, not '{}'", human_words(name)));
}

Path path_of(const std::string& name) {
  if (const auto p = path_parse(name)) return *p;
  throw Error(fmt::format("there is no kernel path '{}'; the paths are {}", name, path_names()));
}

// The options of the sweep; the rest belongs to the kernels' benchmarks.
void sweep_options(CLI::App& app, SweepOptions& o, ReportFormat& format) {
  constexpr const char* group = "Whole models";
  const auto numbers = [&](const char* names, const char* longest, std::vector<uint32_t>& where, uint32_t low, uint32_t high,
                           const char* help) {
    opt_text(
        app, names, [=, &where](const std::string& s) { where = read_list(longest, s, low, high); }, help)
        ->type_name("LIST")
        ->group(group);
  };
  opt_text(
      app, "--shape",
      [&o](const std::string& s) {
        o.shapes = read_words("--shape", s);
        for (const std::string& name : o.shapes) known_shape(name);
      },
      "Shapes of known models, with random weights: " + shape_names())
      ->type_name("NAMES")
      ->group(group);
  opt_text(
      app, "-m,--model", [&o](const std::string& s) { o.models.push_back(s); }, "A model file")
      ->type_name("FILE")
      ->group(group);
  opt_text(
      app, "--type",
      [&o](const std::string& s) {
        o.types.clear();
        for (const std::string& w : read_words("--type", s)) o.types.push_back(type_of(w));
      },
      "Types of the shapes' weights (q8,q4)")
      ->type_name("NAMES")
      ->group(group);
  opt_text(
      app, "--load",
      [&o](const std::string& s) {
        o.loads.clear();
        for (const std::string& w : read_words("--load", s)) o.loads.push_back(load_of(w));
      },
      "Weights in a mapped file or in huge pages: map, huge (map)")
      ->type_name("NAMES")
      ->group(group);
  numbers("-t,--threads", "--threads", o.threads, 1, 1024, "Threads (1, and what helps here)");
  numbers("-n,--gen", "--gen", o.gen, 0, 1u << 20, "Tokens of decode (64)");
  numbers("-p,--prompt", "--prompt", o.prompt, 0, 1u << 20, "Tokens of prompt (128)");
  numbers("-d,--depth", "--depth", o.depth, 0, 1u << 20, "Positions that the cache holds before (0)");
  opt_whole(
      app, "-r,--repetitions", 1, 1000, [&o](uint64_t v) { o.repetitions = static_cast<uint32_t>(v); }, "Samples of each row (5)")
      ->group(group);
  opt_whole(
      app, "--chunk", 1, 4096, [&o](uint64_t v) { o.chunk = static_cast<uint32_t>(v); }, "Prompt tokens worked on together (64)")
      ->group(group);
  opt_text(
      app, "--kv",
      [&o](const std::string& s) {
        o.kv.clear();
        for (const std::string& w : read_words("--kv", s)) o.kv.push_back(kv_parse(w));
      },
      fmt::format("Types of the cache: {} (f32)", kv_names()))
      ->type_name("NAMES")
      ->group(group);
  opt_text(
      app, "-o,--output", [&format](const std::string& s) { format = report_format(s); }, "md, csv, json or jsonl (md)")
      ->type_name("FORMAT")
      ->group(group);
}

std::string command_line(int argc, char** argv) {
  std::string all = program_name();
  for (int i = 1; i < argc; ++i) all += fmt::format(" {}", argv[i]);
  return all;
}

void run_ratio_task(const CpuFeatures& cpu, const RatioOptions& r, ReportFormat format, const std::string& command) {
  std::vector<std::string> notes;
  const Machine machine = machine_here(command);
  if (format == ReportFormat::json) {
    const std::vector<RatioRow> rows = run_ratio(cpu, r, notes);
    return out_write(ratio_json(rows, r, notes, machine));
  }
  bool headed = false;
  const std::vector<RatioRow> rows = run_ratio(cpu, r, notes, [&](const RatioRow& row) {
    out_write((std::exchange(headed, true) ? "" : ratio_head(machine, notes)) + ratio_line(row));
  });
  out_write(noisy_words(rows, [](const RatioRow& row) { return row.ratios; }));
}

void run_breakdown_task(const CLI::App& app, const CpuFeatures& cpu, SweepOptions& o, ReportFormat format,
                        const std::string& command) {
  if (format != ReportFormat::md && format != ReportFormat::json) throw UsageError("--breakdown writes md or json, no other -o");
  for (const std::string& name : sweep_task_names())
    if (app.count(name)) throw UsageError(fmt::format("{} is for the sweep; leave it out of --breakdown", name));
  if (app.count("--prompt") == 0) o.prompt.clear();
  if (app.count("--prompt") && app.count("--gen") == 0) o.gen.clear();
  if (o.shapes.empty() && o.models.empty()) o.shapes = {"126m"};
  out_write(breakdown_text(run_breakdown(cpu, o), machine_here(command), format));
}

}  // namespace

int perf_main(int argc, char** argv, const CpuFeatures& cpu) {
  CLI::App app(
      "Measures how fast models run here, and how close that is to what memory gives. With no task it is the sweep of the shape "
      "126m.",
      "perf");
  bool ratio = false, kernels = false, breakdown = false;
  RatioOptions r;
  SweepOptions o;
  SweepTask task;
  ReportFormat format = ReportFormat::md;
  app.allow_extras();
  opt_text(
      app, "--kernel",
      [&](const std::string& v) {
        o.paths.clear();
        for (const std::string& w : read_words("--kernel", v)) o.paths.push_back(path_of(w));
      },
      "Kernel paths (all that this CPU has)")
      ->type_name(alternatives(path_names()));
  sweep_options(app, o, format);
  sweep_task_options(app, task);
  app.add_flag("--breakdown", breakdown,
               "Where a token's time goes, and what of the products is arithmetic; of a prompt with -p alone")
      ->group("Whole models");
  app.add_flag("--kernels", kernels,
               "The kernels alone; options that begin with --benchmark_ are Google Benchmark's and mean this as well")
      ->group("Kernels");
  CLI::Option* with =
      app.add_flag("--ratio", ratio, "Compare the products with a loop that only reads the same memory")->group("Kernels");
  opt_whole(
      app, "--mib", 64, 1 << 20, [&](uint64_t v) { r.mib = v; }, "MiB of weights (1024)")
      ->needs(with)
      ->group("Kernels");
  opt_whole(
      app, "--rounds", 1, 1000, [&](uint64_t v) { r.rounds = static_cast<unsigned>(v); }, "Rounds (7)")
      ->needs(with)
      ->group("Kernels");
  app.add_flag_callback(
         "--huge", [&] { r.pages = Memory::Pages::huge; }, "Huge pages, not 4 KiB")
      ->needs(with)
      ->group("Kernels");
  return app_run(app, argc, argv, [&] {
    const std::vector<std::string> rest = app.remaining();
    if (breakdown + ratio + kernels > 1) throw UsageError("--breakdown, --kernels and --ratio are tasks of their own; give one");
    if (breakdown && !rest.empty())
      throw UsageError(fmt::format("there is no option '{}' beside --breakdown (see {} --help)", rest[0], program_name()));
    if (ratio || kernels || !rest.empty()) {
      std::vector<std::string> whole = sweep_task_names();
      for (const char* name : {"--model", "--type", "--load", "--gen", "--prompt", "--depth", "--chunk", "--kv"})
        whole.emplace_back(name);
      if (!ratio) whole.emplace_back("--threads");
      if (ratio) whole.insert(whole.end(), {"--shape", "--repetitions"});
      for (const std::string& name : whole)
        if (app.count(name)) throw UsageError(fmt::format("{} is for whole models; leave it out of --kernels and --ratio", name));
      if (ratio && o.paths.size() > 1) throw UsageError("--ratio takes one path of --kernel, or all");
      if (format != ReportFormat::md && format != ReportFormat::json)
        throw UsageError(ratio ? "--ratio writes md or json, no other -o"
                               : "--kernels writes md or json; Google Benchmark's --benchmark_format has csv");
    }
    if (ratio) {
      if (!rest.empty())
        throw UsageError(fmt::format("there is no option '{}' beside --ratio (see {} --help)", rest[0], program_name()));
      if (o.threads.size() > 1) throw UsageError("--ratio takes one number of threads");
      if (!o.threads.empty()) r.threads = o.threads[0];
      if (!o.paths.empty()) r.path = o.paths[0];
      run_ratio_task(cpu, r, format, command_line(argc, argv));
      return 0;
    }
    if (kernels || !rest.empty()) {
      KernelTask k{o.paths, {}, o.repetitions, format, rest};
      for (const std::string& name : o.shapes) k.shapes.push_back(&known_shape(name));
      run_kernel_task(cpu, k, command_line(argc, argv));
      return 0;
    }
    if (breakdown) {
      run_breakdown_task(app, cpu, o, format, command_line(argc, argv));
      return 0;
    }
    run_sweep_task(app, cpu, o, task, format, command_line(argc, argv));
    return 0;
  });
}

}  // namespace nyb
