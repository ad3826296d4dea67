// sweep_plan.h - what a sweep will run: models, rows, and the checks before any of it is timed.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>
#include "engine/read_order.h"
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

// In which order a path reads the model's weights, and how much longer the other takes: a line that names model, type and memory.
std::string order_note(const SweepModel& m, const ReadOrder& order);

inline constexpr uint32_t kWarmUp = 4;  // steps before a sample's clock starts; the context has room for them

// Positions of the context that a sample of the row takes.
uint32_t row_context(const SweepRow& r);

// Ids that no tokenizer has to know: any of the vocabulary.
std::vector<int32_t> some_ids(size_t n, uint32_t vocab);

// One of each kind that weights can be in, of `bytes` (0: probe_size()). Adds to `notes` where there are no huge pages, or few, and
// where memory is too scarce for so much.
std::vector<std::unique_ptr<ProbeMemory>> probe_memories(size_t bytes, std::vector<std::string>& notes);

inline constexpr unsigned kProbeRounds = 7;  // in which the fastest read loop is found

struct ProbeCell {
  const ProbeMemory* memory;
  SweepProbe probe;
};

// The fastest read loop on each number of threads in each memory; no samples yet.
std::vector<ProbeCell> sweep_probes(const std::vector<std::unique_ptr<ProbeMemory>>& memories,
                                    const std::vector<uint32_t>& threads);

// That of the row's threads in its kind of memory. Throws Error where there is none.
const ProbeCell& probe_of(const std::vector<ProbeCell>& probes, const SweepRow& row);

// A reading of memory, by the threads of an engine: those of another pool would still look for work as its sample begins.
using ReadBeside = std::function<ReadTime(Pool&)>;

inline constexpr double kReadBeside = 0.03;  // seconds of a reading before a sample of decode, and after it; one pass at least

ReadBeside read_beside(const ProbeCell& probe);  // by its loop

// Adds a sample to the row, with an engine of its own, warmed up first. One of decode has a reading of memory right before its
// warm-up and right after its last token, and adds both together to the row as well: memory is not equally fast for long. None is
// within the sample, since it would empty the caches that a small model lives in.
void sweep_sample(SweepCell& cell, const ReadBeside& read);

// Marks the kinds of memory with weights in them, and moves all of it into a Sweep.
Sweep sweep_result(SweepPlan&& plan, std::vector<ProbeCell>&& probes);

}  // namespace nyb
