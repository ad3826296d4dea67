// fit.h - will a model fit into this machine, and how fast can it be.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>
#include "engine/kv_cache.h"
#include "engine/memory.h"
#include "model/outline.h"
#include "model/tensor.h"

namespace nyb {

// How the model shall run.
struct FitPlan {
  uint32_t ctx = 0;  // 0: the model's own, at most 4096
  KvType kv = KvType::f32;
  unsigned threads = 1;
};

// GB/s with as many threads. 0 and empty: not measured, but for the path.
struct FitSpeeds {
  double read = 0;                   // that reading gives
  std::map<TType, double> products;  // of weights of each type, by the products on the path that would run
  std::string path, note;            // that path's name; what the measurement lacks
};

struct FitRow {
  std::string type;  // "q8", "q4 (head q8)", "keep: q4_K, some q6_K" of a GGUF
  ModelCost cost;
  uint64_t kv = 0, working = 0;
  uint64_t total() const { return cost.weights + kv + working; }
  bool fits = false;
  double expected = 0;           // tok/s of decode at depth 0
  std::vector<double> ceilings;  // tok/s that reading allows at each of the depths
};

struct Fit {
  ModelOutline model;
  FitPlan plan;  // its context as it came out
  uint64_t kv_per_position = 0;
  std::vector<uint32_t> contexts;
  std::vector<uint32_t> depths;  // 0, 4096 and 32768, as far as the model's context goes; its last position where it ends before
  std::vector<uint32_t> beyond;  // those of them that are beyond its context
  MemoryLeft left;
  FitSpeeds speeds;
  std::vector<FitRow> rows;
  std::vector<std::string> notes;
};

// Every type that there is to choose from: of a model file its own; of a source what quantize can make of it, keep among them; of
// a known shape also what a GGUF of it may hold. No speeds yet. Throws Error for a context beyond the model's.
Fit fit_of(const ModelOutline& m, const FitPlan& plan, const MemoryLeft& left);

// The types whose products it takes to tell how fast the rows are.
std::vector<TType> fit_types(const Fit& f);
void fit_speeds(Fit& f, const FitSpeeds& speeds);

std::string fit_text(const Fit& f);
std::string fit_json(const Fit& f);

}  // namespace nyb
