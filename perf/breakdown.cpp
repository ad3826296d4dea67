// breakdown.cpp - a repetition is some steps of a token each, or one of a prompt, with an engine of its own that has a clock.
#include "breakdown.h"
#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include "common/app.h"
#include "engine/engine.h"
#include "engine/sampler.h"
#include "engine/stage_clock.h"
#include "model/shapes.h"
#include "probe/probe.h"
#include "stage_loads.h"
#include "sweep_plan.h"

namespace nyb {
namespace {

using Clock = std::chrono::steady_clock;
double seconds(Clock::duration d) { return std::chrono::duration<double>(d).count(); }

// In the order of Stage, then what is no stage.
constexpr std::string_view kNames[] = {"embedding", "norms, quantization",
                                       "q, k, v",   "rope, cache write",
                                       "attention", "o",
                                       "gate, up",  "down",
                                       "head",      "sampler",
                                       kWaiting,    kOther};
constexpr size_t kSampler = kStages, kWaitingAt = kStages + 1, kOtherAt = kStages + 2, kParts = kStages + 3;
static_assert(std::size(kNames) == kParts);

// A step.
struct Sample {
  double whole = 0, sampler = 0;
  std::array<StageClock::Time, kStages> stages{};
  StageLoads::Seconds loads{};
};

struct Counts {
  uint32_t tokens = 0, passes = 0, heads = 0;  // passes through the layers, and through the head
};

Counts counts_of(const SweepRow& r) {
  if (r.prompt) return {r.prompt, (r.prompt + r.chunk - 1) / r.chunk, 1};
  return {r.gen, r.gen, r.gen};
}

// A step and what follows it, timed; then the loads.
class Run {
 public:
  Run(const SweepCell& cell, const PanelLoads* loads)
      : row_(cell.row), pool_(row_.threads), clock_(pool_), engine_(*cell.model, cell.kern, pool_, options()), sampler_({}, 1) {
    if (loads) loads_.emplace(*cell.model, *loads, pool_, engine_.kern().panels_together());
    logits_.resize(cell.model->shape.vocab);
  }

  std::vector<Sample> repetition() {
    const Counts n = counts_of(row_);
    const std::vector<int32_t> ids = some_ids(n.tokens + kWarmUp, engine_.model().shape.vocab);
    eng_fill(engine_, row_.depth);
    for (uint32_t i = 0; i < kWarmUp; ++i) eng_step(engine_, std::span(ids).subspan(i, 1), row_.depth + i, logits_);
    if (row_.prompt) return {step(std::span(ids).first(n.tokens), row_.depth, n.passes)};
    std::vector<Sample> steps;
    for (uint32_t i = 0; i < n.tokens; ++i) steps.push_back(step(std::span(ids).subspan(i, 1), row_.depth + i, 1));
    return steps;
  }

 private:
  EngOptions options() {
    EngOptions o;
    o.ctx = row_context(row_);
    o.kv = row_.kv;
    o.chunk = row_.chunk;
    o.cancel = &interrupt_flag();
    o.clock = &clock_;
    return o;
  }

  Sample step(std::span<const int32_t> ids, uint32_t pos, uint32_t passes) {
    Sample s;
    const auto before = clock_.times();
    const Clock::time_point start = Clock::now();
    eng_step(engine_, ids, pos, logits_);
    const Clock::time_point stepped = Clock::now();
    samp_pick(sampler_, engine_.narrow(), logits_);
    const Clock::time_point end = Clock::now();
    s.whole = seconds(end - start);
    s.sampler = seconds(end - stepped);
    for (size_t i = 0; i < kStages; ++i)
      s.stages[i] = {clock_.times()[i].all - before[i].all, clock_.times()[i].waited - before[i].waited};
    if (!loads_) return s;
    for (uint32_t i = 0; i < passes; ++i) loads_->layers(s.loads);
    loads_->head(s.loads);
    return s;
  }

  const SweepRow& row_;
  Pool pool_;
  StageClock clock_;
  Engine engine_;
  Sampler sampler_;
  std::optional<StageLoads> loads_;
  std::vector<float> logits_;
};

// What a token reads and multiplies in each part.
void count_work(BreakdownRow& b, const Model& m) {
  const Counts n = counts_of(b.row);
  const auto add = [&](Stage s, const Tensor* w, double times) {
    BreakdownPart& p = b.parts[static_cast<size_t>(s)];
    p.bytes += static_cast<double>(w->bytes) * times / n.tokens;
    p.macs += static_cast<double>(w->rows * w->cols) * (s == Stage::head ? times / n.tokens : 1);
  };
  for (const LayerTensors& t : m.layers) {
    for (const Tensor* w : {t.q, t.k, t.v}) add(Stage::qkv, w, n.passes);
    add(Stage::o, t.o, n.passes);
    for (const Tensor* w : {t.gate, t.up}) add(Stage::gate_up, w, n.passes);
    add(Stage::down, t.down, n.passes);
  }
  add(Stage::head, m.head, n.heads);
  if (b.row.prompt) return;  // a chunk's tokens look at the same keys
  b.parts[static_cast<size_t>(Stage::attend)].bytes =
      b.row.bytes_per_token - static_cast<double>(model_cost(m.tensors, m.head == m.embed).read_per_token);
}

// The steps whose whole time is in the middle half: neither what was stopped by others nor what was lucky.
std::vector<const Sample*> middle_half(const std::vector<Sample>& steps) {
  std::vector<const Sample*> sorted;
  sorted.reserve(steps.size());
  for (const Sample& s : steps) sorted.push_back(&s);
  std::sort(sorted.begin(), sorted.end(), [](const Sample* a, const Sample* b) { return a->whole < b->whole; });
  const auto quarter = static_cast<std::ptrdiff_t>(sorted.size() / 4);
  return {sorted.begin() + quarter, sorted.end() - quarter};
}

BreakdownRow taken_apart(const SweepCell& cell, const std::vector<Sample>& steps) {
  BreakdownRow b;
  b.row = cell.row;
  const Counts n = counts_of(b.row);
  const std::vector<const Sample*> middle = middle_half(steps);
  const double tokens = b.row.prompt ? n.tokens : 1;  // of a step
  const double all = tokens * static_cast<double>(middle.size());
  b.parts.resize(kParts);
  for (size_t i = 0; i < kParts; ++i) b.parts[i].name = kNames[i];
  double counted = 0;
  for (const Sample* s : middle) {
    b.whole += s->whole / all;
    b.parts[kSampler].seconds += s->sampler / all;
    for (size_t i = 0; i < kStages; ++i) {
      const double time = seconds(s->stages[i].all) / all, waited = seconds(s->stages[i].waited) / all;
      b.parts[i].seconds += time - waited;
      b.parts[i].waited += waited;
      b.parts[kWaitingAt].seconds += waited;
      counted += time;
    }
  }
  b.parts[kOtherAt].seconds = b.whole - counted - b.parts[kSampler].seconds;
  for (size_t i = 0; i < kStages; ++i) {
    BreakdownPart& p = b.parts[i];
    std::vector<double> loads, left;
    for (const Sample& s : steps) {
      p.samples.push_back(seconds(s.stages[i].all) / tokens);
      loads.push_back(s.loads[i] / tokens);
      left.push_back(1 - loads.back() / p.samples.back());
    }
    p.loads = median(loads);
    if (p.loads > 0) p.arithmetic = median(left);
  }
  count_work(b, *cell.model);
  return b;
}

}  // namespace

Breakdown run_breakdown(const CpuFeatures& cpu, const SweepOptions& o, const TableOf& table) {
  SweepPlan plan = sweep_plan(cpu, o, table);
  std::vector<std::vector<Sample>> steps(plan.cells.size());
  for (uint32_t r = 0; r < o.repetitions; ++r)
    for (size_t i = 0; i < plan.cells.size(); ++i) {
      if (interrupted()) throw Interrupted{};
      SweepRow& row = plan.cells[i].row;
      double whole = 0;
      for (const Sample& s : Run(plan.cells[i], panel_loads(cpu, plan.cells[i].kern)).repetition()) {
        whole += s.whole;
        steps[i].push_back(s);
      }
      row.samples.push_back(counts_of(row).tokens / whole);
    }
  Breakdown b;
  b.missing = std::move(plan.missing);
  for (size_t i = 0; i < plan.cells.size(); ++i) b.rows.push_back(taken_apart(plan.cells[i], steps[i]));
  return b;
}

}  // namespace nyb
