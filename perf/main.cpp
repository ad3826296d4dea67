// main.cpp - perf: benchmarks of the kernels, and how close the products come to the memory's limit.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <cerrno>
#include <cstring>
#include <fstream>
#include "common/app.h"
#include "common/options.h"
#include "ratio.h"
#include "registered.h"

namespace {

constexpr std::string_view file_option = "--benchmark_out=";

// Google Benchmark would end the program itself.
void check_file(const std::string& name) {
  if (name.empty() || std::ofstream(name, std::ios::app)) return;
  throw nyb::Error(fmt::format("cannot write '{}': {}", nyb::human_words(name), std::strerror(errno)));
}

// The benchmarks that the other files registered. `words`: what the program's own options left over.
int run_benchmarks(const std::string& program, const nyb::RatioOptions& o, const std::vector<std::string>& words) {
  std::vector<std::string> args = {program};
  if (o.path == nyb::Path::ref)
    throw nyb::Error("the path ref has no benchmarks of its own, being the measure of the others; give another, or --ratio");
  if (o.path) nyb::check_runs(*o.path);
  if (o.path) args.push_back(fmt::format("--benchmark_filter=/{}/", nyb::path_name(*o.path)));
  for (const std::string& w : words) {
    if (w.rfind("--benchmark_", 0) != 0 && w.rfind("--v=", 0) != 0)
      throw nyb::UsageError(fmt::format("there is no option '{}' (see perf --help)", w));
    args.push_back(w);
    if (w.rfind(file_option, 0) == 0) check_file(w.substr(file_option.size()));
  }
  std::vector<char*> argv;
  argv.reserve(args.size() + 1);
  for (std::string& a : args) argv.push_back(a.data());
  argv.push_back(nullptr);
  int argc = static_cast<int>(args.size());
  benchmark::Initialize(&argc, argv.data());
  if (argc > 1) throw nyb::UsageError(fmt::format("Google Benchmark has no option '{}'", argv[1]));
  nyb::run_registered();
  return 0;
}

nyb::Path path_of(const std::string& name) {
  if (const auto p = nyb::path_parse(name)) return *p;
  throw nyb::Error(fmt::format("there is no kernel path '{}'; the paths are {}", nyb::human_words(name), nyb::path_names()));
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Measures the kernels. Without --ratio every registered benchmark runs; options that begin with --benchmark_ are Google "
      "Benchmark's, such as --benchmark_filter=gemv.*cold.",
      "perf");
  bool ratio = false;
  nyb::RatioOptions o;
  app.allow_extras();
  CLI::Option* with = app.add_flag("--ratio", ratio, "Compare the products with a loop that only reads the same memory");
  nyb::opt_text(
      app, "--kernel", [&](const std::string& v) { o.path = path_of(v); }, "One kernel path (all that this CPU has)");
  nyb::opt_whole(
      app, "--mib", 64, 1 << 20, [&](uint64_t v) { o.mib = v; }, "MiB of weights (1024)")
      ->needs(with);
  nyb::opt_whole(
      app, "--threads", 1, 1024, [&](uint64_t v) { o.threads = static_cast<unsigned>(v); }, "Threads (1)")
      ->needs(with);
  nyb::opt_whole(
      app, "--rounds", 1, 1000, [&](uint64_t v) { o.rounds = static_cast<unsigned>(v); }, "Rounds (7)")
      ->needs(with);
  app.add_flag_callback(
         "--huge", [&] { o.pages = nyb::Memory::Pages::huge; }, "Huge pages, not 4 KiB")
      ->needs(with);
  return nyb::app_run(app, argc, argv, [&] {
    if (!ratio) return run_benchmarks(app.get_name(), o, app.remaining());
    if (const auto rest = app.remaining(); !rest.empty())
      throw nyb::UsageError(fmt::format("there is no option '{}' beside --ratio (see perf --help)", rest[0]));
    nyb::run_ratio(o);
    return 0;
  });
}
