// stage_loads.cpp - par_for as step.cpp has it.
#include "stage_loads.h"
#include <algorithm>
#include "kern/error.h"
#include "timed.h"

namespace nyb {
namespace {

constexpr Stage kProducts[] = {Stage::qkv, Stage::o, Stage::gate_up, Stage::down};
constexpr size_t kLine = 8;  // words

size_t widest(const ModelShape& s) { return std::max({size_t{s.dim}, size_t{s.heads} * s.head_dim, size_t{s.ffn}}); }

std::vector<const Tensor*> matrices_of(Stage s, const LayerTensors& t) {
  switch (s) {
    case Stage::qkv: return {t.q, t.k, t.v};
    case Stage::o: return {t.o};
    case Stage::gate_up: return {t.gate, t.up};
    case Stage::down: return {t.down};
    default: return {};
  }
}

}  // namespace

StageLoads::StageLoads(const Model& m, const PanelLoads& loads, Pool& pool, size_t panels_together)
    : m_(m),
      loads_(loads),
      pool_(pool),
      together_(panels_together),
      values_(widest(m.shape)),
      groups_(groups_of(widest(m.shape))),
      x_{values_.data(), 0, groups_.data(), 0},
      sums_(pool.threads() * kLine) {
  for (const Stage s : kProducts) {
    uint64_t expected = 0;
    for (const Tensor* w : matrices_of(s, m.layers[0])) expected ^= panels_xor(*w, 0, panels_of(w->rows));
    if (stage(s, m.layers[0]) != expected) throw Error("the loops that only load did not load all of a layer");
  }
  if (row_of_matrices({m.head}) != panels_xor(*m.head, 0, panels_of(m.head->rows)))
    throw Error("the loops that only load did not load all of the head");
}

void StageLoads::layers(Seconds& add) {
  for (const LayerTensors& t : m_.layers)
    for (const Stage s : kProducts) add[static_cast<size_t>(s)] += seconds_of([&] { stage(s, t); });
}

void StageLoads::head(Seconds& add) {
  add[static_cast<size_t>(Stage::head)] += seconds_of([&] { row_of_matrices({m_.head}); });
}

uint64_t StageLoads::run(size_t panels, const Body& body) {
  std::fill(sums_.begin(), sums_.end(), 0);
  par_for(pool_, panels, panel_grain(pool_, panels, together_),
          [&](size_t b, size_t e, unsigned thread) { sums_[thread * kLine] ^= body(b, e); });
  uint64_t all = 0;
  for (const uint64_t sum : sums_) all ^= sum;
  return all;
}

uint64_t StageLoads::stage(Stage s, const LayerTensors& t) {
  if (s != Stage::gate_up) return row_of_matrices(matrices_of(s, t));
  return run(panels_of(t.gate->rows), [&](size_t b, size_t e) { return load(*t.gate, b, e) ^ load(*t.up, b, e); });
}

// The panels of one matrix after those of the other.
uint64_t StageLoads::row_of_matrices(const std::vector<const Tensor*>& all) {
  size_t panels = 0;
  for (const Tensor* w : all) panels += panels_of(w->rows);
  return run(panels, [&](size_t b, size_t e) {
    uint64_t sum = 0;
    size_t first = 0;
    for (const Tensor* w : all) {
      const size_t n = panels_of(w->rows), from = std::max(b, first), to = std::min(e, first + n);
      if (from < to) sum ^= load(*w, from - first, to - first);
      first += n;
    }
    return sum;
  });
}

}  // namespace nyb
