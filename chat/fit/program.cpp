// program.cpp - what fit does, from its options to its exit code.
#include "fit/program.h"
#include <fmt/format.h>
#include <algorithm>
#include <CLI/CLI.hpp>
#include <cstdlib>
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
void measure(const Fit& f, const KernTable& kern, FitSpeeds& s) {
  const ProbeSize size = probe_size();
  Pool pool(f.plan.threads);
  s.note = size.note();
  s.read = probe(ProbeMemory(size.bytes, ProbeMemory::Kind::file).bytes(), pool, kRounds).front().median;
  for (const TType t : fit_types(f)) {
    s.products[t] = product_speed(t, kern, pool, size.bytes);
    s.read = std::max(s.read, s.products[t]);  // they read as well; measured a moment later, they may have been luckier
  }
}

int run(Options o) {
  const MemoryLeft left = memory_left();  // before anything is allocated
  const KernChoice kern = kern_pick(cpu_here(), {}, std::getenv("NYBBLE_KERNEL"));
  const ModelOutline m = model_outline(o.model);
  o.plan.threads = threads_pick(o.plan.threads, std::getenv("NYBBLE_THREADS")).count;
  Fit f = fit_of(m, o.plan, left);
  FitSpeeds speeds;
  speeds.path = path_name(kern.table.path);
  if (o.measure) measure(f, kern.table, speeds);
  fit_speeds(f, speeds);
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
      "Threads (default: what helps here; also NYBBLE_THREADS)");
  app.add_flag("!--no-measure", o.measure, "Do not measure the bandwidth: no tok/s");
  app.add_flag("--json", o.json, "One JSON object");
  app.footer("It measures the best kernel path of this CPU, or the one that NYBBLE_KERNEL names.");
  return app_run(app, argc, argv, [&o] { return run(o); });
}

}  // namespace nyb
