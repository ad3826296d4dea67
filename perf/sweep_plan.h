// sweep_plan.h - what a sweep will run: models, rows, and the checks before any of it is timed.
#pragma once
#include <memory>
#include <string>
#include <vector>
#include "kern/cpu.h"
#include "probe/probe.h"
#include "sweep.h"
#include "sweep_model.h"

namespace nyb {

// A row that can be run; its samples are still missing.
struct SweepCell {
  const Model* model;
  KernTable kern;  // with the faster order of reading weights
  SweepRow row;
};

struct SweepPlan {
  std::vector<SweepModel> models;
  std::vector<SweepCell> cells;  // all combinations, in the order in which they are told
  std::vector<uint32_t> threads;
  std::vector<std::string> missing;  // paths that this CPU lacks; what else a reader of the rows should know
};

// Throws UsageError where no test is asked for: -n and -p are both 0.
void check_tests(const SweepOptions& o);

// Checks that every kernel of every path gives the reference's bytes on each model's shapes, and that all paths give the same
// logits. Throws as run_sweep does.
SweepPlan sweep_plan(const CpuFeatures& cpu, const SweepOptions& o, const TableOf& table = kern_table);

inline constexpr uint32_t kWarmUp = 4;  // steps before a sample's clock starts; the context has room for them

// Positions of the context that a sample of the row takes.
uint32_t row_context(const SweepRow& r);

// Ids that no tokenizer has to know: any of the vocabulary.
std::vector<int32_t> some_ids(size_t n, uint32_t vocab);

// One sample of the row in tokens a second, with an engine of its own, warmed up first.
double sweep_sample(const SweepCell& cell);

// One of each kind that weights can be in, of `bytes` (0: probe_size()). Adds to `notes` where there are no huge pages, or few, and
// where memory is too scarce for so much.
std::vector<std::unique_ptr<ProbeMemory>> probe_memories(size_t bytes, std::vector<std::string>& notes);

inline constexpr unsigned kProbeRounds = 7;  // in which the fastest read loop is found

// The fastest read loop on so many threads; no samples yet.
SweepProbe sweep_probe(const ProbeMemory& memory, unsigned threads);

// Gives each row the bandwidth of the probe with as many threads in its kind of memory, marks the kinds with weights in them, and
// moves all of it into a Sweep.
Sweep sweep_result(SweepPlan&& plan, std::vector<SweepProbe>&& probes);

}  // namespace nyb
