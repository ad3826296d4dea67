// tasks.cpp - the options of the tasks, and which may stand together.
#include "tasks.h"
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <cstdlib>
#include <optional>
#include "common/app.h"
#include "common/child.h"
#include "common/options.h"
#include "compare.h"
#include "engine/threads.h"
#include "peer_figures.h"
#include "plot.h"
#include "sweep_model.h"
#include "sweep_read.h"

namespace nyb {
namespace {

constexpr uint32_t kPeerRounds = 8;  // six make an interval of 95 %; an even number lets each begin as often

void refuse(const CLI::App& app, const std::string& task, const std::vector<std::string>& names, const char* why) {
  for (const std::string& name : names)
    if (name != task && app.count(name)) throw UsageError(fmt::format("{} {}; leave {} out", task, why, name));
}

// What is measured beside a peer is what a user would run, where nothing else is asked for.
void peer_defaults(const CLI::App& app, const CpuFeatures& cpu, SweepOptions& o) {
  if (o.paths.empty()) o.paths = {kern_pick(cpu, {}, std::getenv("NYBBLE_KERNEL")).table.path};
  if (o.threads.empty()) o.threads = {threads_pick(0, std::getenv("NYBBLE_THREADS")).count};
  if (!app.count("--repetitions")) o.repetitions = kPeerRounds;
}

}  // namespace

const std::vector<std::string>& sweep_task_names() {
  static const std::vector<std::string> names = {"--plot",         "--from",         "--compare", "--peer",
                                                 "--peer-pattern", "--peer-timeout", "--write"};
  return names;
}

void sweep_task_options(CLI::App& app, SweepTask& task) {
  constexpr const char* group = "Whole models";
  app.add_option("--plot", task.plot, "Draw the rows and the roofline as well (SVG, by gnuplot)")->type_name("FILE")->group(group);
  app.add_option("--from", task.from, "Measure nothing: read a sweep that -o json wrote")->type_name("FILE")->group(group);
  app.add_option("--compare", task.compare, "Measure nothing: compare two sweeps that -o json wrote")
      ->expected(2)
      ->type_name("OLD NEW")
      ->group(group);
  CLI::Option* peer = opt_text(
      app, "--peer",
      [&task](const std::string& s) {
        command_words(s);
        task.peer.command = s;
      },
      "Run this command in turn with ours, -r rounds (8)");
  peer->type_name("COMMAND")->group(group);
  opt_text(
      app, "--peer-pattern",
      [&task](const std::string& s) {
        const FigurePattern checked(s);
        task.peer.pattern = s;
      },
      "Where its tok/s stand: a regular expression with one group (the JSON of llama-bench or perf)")
      ->type_name("REGEX")
      ->group(group)
      ->needs(peer);
  opt_whole(
      app, "--peer-timeout", 1, 86400, [&task](uint64_t v) { task.peer.limit = std::chrono::seconds(v); },
      "Seconds that it may take each time (600)")
      ->group(group)
      ->needs(peer);
  app.add_option("--write", task.write, "Measure nothing: write the weights of one --shape in one --type as a model file")
      ->type_name("FILE")
      ->group(group);
}

void run_sweep_task(const CLI::App& app, const CpuFeatures& cpu, SweepOptions o, const SweepTask& task, ReportFormat format,
                    const std::string& command) {
  static const std::vector<std::string> measuring = {"--kernel", "--shape",  "--model", "--type",        "--load",  "--threads",
                                                     "--gen",    "--prompt", "--depth", "--repetitions", "--chunk", "--kv"};
  if (app.count("--compare")) {
    refuse(app, "--compare", measuring, "measures nothing");
    refuse(app, "--compare", sweep_task_names(), "stands alone");
    out_write(compare_text(compare(sweep_read(task.compare[0]), sweep_read(task.compare[1])), format));
    return;
  }
  if (app.count("--write")) {
    std::vector<std::string> others = measuring;
    std::erase_if(others, [](const std::string& name) { return name == "--shape" || name == "--type"; });
    refuse(app, "--write", others, "measures nothing");
    refuse(app, "--write", sweep_task_names(), "stands alone");
    if (o.shapes.size() != 1 || o.types.size() != 1) throw UsageError("--write writes one --shape in one --type; name both");
    write_shape(task.write, o.shapes[0], o.types[0]);
    return;
  }
  if (app.count("--from")) {
    refuse(app, "--from", measuring, "measures nothing");
    refuse(app, "--from", {"--peer"}, "measures nothing");
  }
  if (app.count("--peer") && format != ReportFormat::md && format != ReportFormat::json)
    throw UsageError("--peer writes md and json");
  std::optional<Plot> plot;
  if (app.count("--plot")) plot.emplace(task.plot);
  if (app.count("--from")) {
    const SavedSweep saved = sweep_read(task.from);
    if (!plot || app.count("--output")) out_write(sweep_text(saved.sweep, saved.machine, format));
    if (plot) plot->draw(saved.sweep, saved.machine);
    return;
  }
  if (o.shapes.empty() && o.models.empty()) o.shapes = {"126m"};
  const Machine machine = machine_here(command);
  Sweep sweep;
  if (!app.count("--peer")) {
    sweep = run_sweep(cpu, o);
    out_write(sweep_text(sweep, machine, format));
  } else {
    peer_defaults(app, cpu, o);
    const PeerRun run = run_peer(cpu, o, task.peer);
    out_write(peer_text(run, machine, task.peer, format));
    sweep = run.sweep;
  }
  if (plot) plot->draw(sweep, machine);
}

}  // namespace nyb
