// peer.cpp - rounds of ours and of the peer.
#include "peer.h"
#include <fmt/format.h>
#include <algorithm>
#include <optional>
#include "common/app.h"
#include "common/child.h"
#include "engine/pool.h"
#include "kern/error.h"
#include "peer_figures.h"
#include "probe/probe.h"
#include "sweep_plan.h"

namespace nyb {
namespace {

// A program that tells its own speed.
class Peer {
 public:
  explicit Peer(const PeerOptions& o) : words_(command_words(o.command)), limit_(o.limit) {
    if (!child_found(words_[0]))
      throw Error(fmt::format("there is no program '{}' to run as the peer (looked for in PATH)", human_words(words_[0])));
    if (!o.pattern.empty()) pattern_.emplace(o.pattern);
  }
  bool by_pattern() const { return pattern_.has_value(); }

  std::vector<PeerFigure> run() const {
    const ChildResult r = run_child(words_, {}, limit_);
    const std::string name = fmt::format("the peer '{}'", human_words(words_[0]));
    if (!r.good()) {
      err_write(child_said(r));
      throw Error(fmt::format("{} {}", name, child_fault(r, limit_)));
    }
    std::vector<PeerFigure> found;
    if (pattern_) {
      std::optional<double> speed = pattern_->find(r.out);
      if (!speed) speed = pattern_->find(r.err);  // where programs that write text tell their speed
      if (speed) found.emplace_back().samples = {*speed};
    } else {
      found = json_figures(r.out, name);
    }
    if (!found.empty()) return found;
    err_write(child_said(r));
    throw Error(fmt::format("{} wrote no figure: {}", name,
                            pattern_ ? "--peer-pattern fits nowhere in it"
                                     : "it is no JSON of llama-bench (-o json) or perf; --peer-pattern finds "
                                       "the tok/s in a text"));
  }

 private:
  std::vector<std::string> words_;
  std::chrono::seconds limit_;
  std::optional<FigurePattern> pattern_;
};

const PeerFigure& figure_for(const SweepRow& r, const std::vector<PeerFigure>& figures) {
  std::string names;
  for (const PeerFigure& f : figures) {
    if (f.fits(r)) return f;
    names += (names.empty() ? "" : ", ") + f.name();
  }
  throw Error(fmt::format("the peer has no figure for {} with {} thread{} on {} in {}; it gave {}", r.test(), r.threads,
                          r.threads == 1 ? "" : "s", path_name(r.path), r.type, names));
}

// One figure can only be of one kind of work.
void check_one_test(const std::vector<SweepCell>& cells) {
  for (const SweepCell& c : cells)
    if (c.row.test() != cells[0].row.test())
      throw Error(
          fmt::format("--peer-pattern finds one figure, and there are several tests ({}, {}); choose one: -p 0 -n N, or -n 0 -p N",
                      cells[0].row.test(), c.row.test()));
}

}  // namespace

std::vector<double> PeerRow::peer_rounds() const {
  std::vector<double> rounds;
  for (const std::vector<double>& s : samples) rounds.push_back(median(s));
  return rounds;
}

PeerRun run_peer(const CpuFeatures& cpu, const SweepOptions& o, const PeerOptions& p) {
  check_tests(o);
  const Peer peer(p);
  const std::vector<PeerFigure> rehearsal = peer.run();  // is not counted: it warms up, and says early what is wrong
  SweepPlan plan = sweep_plan(cpu, o);
  if (peer.by_pattern()) check_one_test(plan.cells);
  for (const SweepCell& c : plan.cells) figure_for(c.row, rehearsal);
  const std::vector<std::unique_ptr<ProbeMemory>> memories = probe_memories(o.read_bytes, plan.missing);
  std::vector<ProbeCell> probes = sweep_probes(memories, plan.threads);
  std::vector<std::vector<std::vector<double>>> theirs(plan.cells.size());
  const auto ours = [&] {
    for (ProbeCell& c : probes) {
      Pool pool(c.probe.threads);
      c.probe.samples.push_back(read_speed(c.probe.loop, c.memory->bytes(), pool));
    }
    for (SweepCell& c : plan.cells) {
      if (interrupted()) throw Interrupted{};
      sweep_sample(c, read_beside(probe_of(probes, c.row)));
    }
  };
  const auto other = [&] {
    const std::vector<PeerFigure> figures = peer.run();
    for (size_t i = 0; i < plan.cells.size(); ++i) theirs[i].push_back(figure_for(plan.cells[i].row, figures).samples);
  };
  const auto progress = progress_reporter("measuring in turn with the peer", true);
  for (uint32_t round = 0; round < o.repetitions; ++round) {
    progress(round, o.repetitions);
    if (round % 2 == 0) ours();
    other();
    if (round % 2 != 0) ours();
  }
  PeerRun run;
  run.sweep = sweep_result(std::move(plan), std::move(probes));
  for (size_t i = 0; i < run.sweep.rows.size(); ++i) {
    PeerRow row{run.sweep.rows[i], std::move(theirs[i]), {}};
    std::vector<double> ratios = row.row.samples;
    const std::vector<double> peers = row.peer_rounds();
    for (size_t n = 0; n < ratios.size(); ++n) ratios[n] /= peers[n];
    row.ratio = ratio_of_pairs(ratios);
    run.rows.push_back(std::move(row));
  }
  return run;
}

}  // namespace nyb
