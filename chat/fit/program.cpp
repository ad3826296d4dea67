// program.cpp - what fit does, from its options to its exit code.
#include "fit/program.h"
#include <fmt/format.h>
#include <algorithm>
#include <CLI/CLI.hpp>
#include "common/app.h"
#include "common/options.h"
#include "engine/threads.h"
#include "fit/fit.h"
#include "model/shapes.h"
#include "probe/probe.h"

namespace nyb {
namespace {

constexpr unsigned kRounds = 5;

struct Options {
  std::string model;
  uint32_t ctx = 0, threads = 0;
  KvType kv = KvType::f32;
  bool json = false, measure = true;
};

// GB/s of the fastest read loop, by the median of its rounds, over memory of the kind that a mapped model is.
double read_bandwidth(unsigned threads) {
  const ProbeMemory memory(probe_bytes(), ProbeMemory::Kind::file);
  Pool pool(threads);
  return probe(memory.bytes(), pool, kRounds).front().median;
}

int run(const Options& o) {
  const MemoryLeft left = memory_left();  // before anything is allocated
  const ModelOutline m = model_outline(o.model);
  const unsigned threads = o.threads ? o.threads : threads_default().count;
  const Fit f = fit_of(m, o.ctx, o.kv, threads, left, o.measure ? read_bandwidth(threads) : 0);
  out_write(o.json ? fit_json(f) : fit_text(f));
  return 0;
}

}  // namespace

int fit_main(int argc, char** argv) {
  CLI::App app("Tells whether a model fits into this machine's memory, and how fast it can be at most. Reads headers only.", "fit");
  Options o;
  app.add_option("MODEL", o.model, "A model file, a folder or file that quantize reads, or a known shape: " + shape_names())
      ->required();
  opt_whole(
      app, "--ctx", 1, UINT32_MAX, [&o](uint64_t v) { o.ctx = static_cast<uint32_t>(v); },
      "Positions of context (default: the model's, at most 4096)");
  opt_text(
      app, "--kv", [&o](const std::string& s) { o.kv = kv_parse(s); }, "Type of the cache")
      ->type_name(alternatives(kv_names()))
      ->default_str("f32");
  opt_whole(
      app, "--threads", 1, 1024, [&o](uint64_t v) { o.threads = static_cast<uint32_t>(v); }, "Threads (default: what helps here)");
  app.add_flag("!--no-measure", o.measure, "Do not measure the bandwidth: no tok/s");
  app.add_flag("--json", o.json, "One JSON object");
  return app_run(app, argc, argv, [&o] { return run(o); });
}

}  // namespace nyb
