// program.cpp - what fit does, from its options to its exit code.
#include "fit/program.h"
#include <fmt/format.h>
#include <algorithm>
#include <CLI/CLI.hpp>
#include "common/app.h"
#include "common/options.h"
#include "engine/threads.h"
#include "fit/fit.h"
#include "kern/cpu.h"
#include "kern/kern.h"
#include "model/shapes.h"
#include "probe/probe.h"
#include "probe/product_speed.h"

namespace nyb {
namespace {

constexpr unsigned kRounds = 5;

struct Options {
  std::string model;
  FitPlan plan;
  bool json = false, measure = true;
};

// Reading by the median of the fastest loop's rounds, over memory of the kind that a mapped model is; and the products.
FitSpeeds measured(const Fit& f) {
  FitSpeeds s;
  const ProbeSize size = probe_size();
  const KernTable kern = kern_pick(cpu_here()).table;
  Pool pool(f.plan.threads);
  s.note = size.note();
  s.path = path_name(kern.path);
  s.read = probe(ProbeMemory(size.bytes, ProbeMemory::Kind::file).bytes(), pool, kRounds).front().median;
  for (const TType t : fit_types(f)) {
    s.products[t] = product_speed(t, kern, pool, size.bytes);
    s.read = std::max(s.read, s.products[t]);  // they read as well; measured a moment later, they may have been luckier
  }
  return s;
}

int run(Options o) {
  const MemoryLeft left = memory_left();  // before anything is allocated
  const ModelOutline m = model_outline(o.model);
  if (o.plan.threads == 0) o.plan.threads = threads_default().count;
  Fit f = fit_of(m, o.plan, left);
  if (o.measure) fit_speeds(f, measured(f));
  out_write(o.json ? fit_json(f) : fit_text(f));
  return 0;
}

}  // namespace

int fit_main(int argc, char** argv) {
  CLI::App app("Tells whether a model fits into this machine's memory, and how fast it can be at most. Reads headers only.", "fit");
  Options o;
  o.plan.threads = 0;
  app.add_option("MODEL", o.model, "A model file, a folder or file that quantize reads, or a known shape: " + shape_names())
      ->required();
  opt_whole(
      app, "--ctx", 1, UINT32_MAX, [&o](uint64_t v) { o.plan.ctx = static_cast<uint32_t>(v); },
      "Positions of context (default: the model's, at most 4096)");
  opt_text(
      app, "--kv", [&o](const std::string& s) { o.plan.kv = kv_parse(s); }, "Type of the cache")
      ->type_name(alternatives(kv_names()))
      ->default_str("f32");
  opt_whole(
      app, "--threads", 1, 1024, [&o](uint64_t v) { o.plan.threads = static_cast<uint32_t>(v); },
      "Threads (default: what helps here)");
  app.add_flag("!--no-measure", o.measure, "Do not measure the bandwidth: no tok/s");
  app.add_flag("--json", o.json, "One JSON object");
  return app_run(app, argc, argv, [&o] { return run(o); });
}

}  // namespace nyb
