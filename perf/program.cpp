// program.cpp - perf: benchmarks of the kernels, and how close the products come to the memory's limit.
#include "program.h"
#include <fmt/format.h>
#include "benches.h"
#include "common/app.h"
#include "common/options.h"
#include "ratio.h"
#include "registered.h"

namespace nyb {
namespace {

// `words`: what the program's own options left over.
int run_benchmarks(const CpuFeatures& cpu, const std::optional<Path>& path, const std::vector<std::string>& words) {
  std::vector<std::string> args = {program_name()};
  if (path == Path::ref)
    throw Error("the path ref has no benchmarks of its own, being the measure of the others; give another, or --ratio");
  if (path) {
    check_runs(cpu, *path);
    args.push_back(fmt::format("--benchmark_filter=/{}/", path_name(*path)));
  }
  for (const std::string& w : words) {
    if (!w.starts_with("--benchmark_") && !w.starts_with("--v="))
      throw UsageError(fmt::format("there is no option '{}' (see {} --help)", w, program_name()));
    args.push_back(w);
  }
  register_gemv(cpu);
  register_vec(cpu);
  register_fork_join();
  registered_options(std::move(args));
  run_registered(cpu);
  return 0;
}

Path path_of(const std::string& name) {
  if (const auto p = path_parse(name)) return *p;
  throw Error(fmt::format("there is no kernel path '{}'; the paths are {}", name, path_names()));
}

}  // namespace

int perf_main(int argc, char** argv, const CpuFeatures& cpu) {
  CLI::App app(
      "Measures the kernels. Without --ratio every registered benchmark runs; options that begin with --benchmark_ are Google "
      "Benchmark's, such as --benchmark_filter=gemv.*cold.",
      "perf");
  bool ratio = false;
  RatioOptions o;
  app.allow_extras();
  CLI::Option* with = app.add_flag("--ratio", ratio, "Compare the products with a loop that only reads the same memory");
  opt_text(
      app, "--kernel", [&](const std::string& v) { o.path = path_of(v); }, "One kernel path (all that this CPU has)")
      ->type_name(alternatives(path_names()));
  opt_whole(
      app, "--mib", 64, 1 << 20, [&](uint64_t v) { o.mib = v; }, "MiB of weights (1024)")
      ->needs(with);
  opt_whole(
      app, "--threads", 1, 1024, [&](uint64_t v) { o.threads = static_cast<unsigned>(v); }, "Threads (1)")
      ->needs(with);
  opt_whole(
      app, "--rounds", 1, 1000, [&](uint64_t v) { o.rounds = static_cast<unsigned>(v); }, "Rounds (7)")
      ->needs(with);
  app.add_flag_callback(
         "--huge", [&] { o.pages = Memory::Pages::huge; }, "Huge pages, not 4 KiB")
      ->needs(with);
  return app_run(app, argc, argv, [&] {
    if (!ratio) return run_benchmarks(cpu, o.path, app.remaining());
    if (const auto rest = app.remaining(); !rest.empty())
      throw UsageError(fmt::format("there is no option '{}' beside --ratio (see {} --help)", rest[0], program_name()));
    run_ratio(cpu, o);
    return 0;
  });
}

}  // namespace nyb
