// fit.h - will a model fit into this machine, and how fast can it be.
#pragma once
#include <cstdint>
#include <string>
#include <vector>
#include "engine/kv_cache.h"
#include "engine/memory.h"
#include "model/outline.h"
#include "model/tensor.h"

namespace nyb {

struct FitRow {
  std::string type;  // "q8", "q4 (head q8)", "keep: q4_K, some q6_K" of a GGUF
  uint64_t weights = 0, kv = 0, working = 0;
  uint64_t total() const { return weights + kv + working; }
  bool fits = false;
  uint64_t read_per_token = 0;   // of the weights
  std::vector<double> ceilings;  // tok/s at each of the depths
};

struct Fit {
  ModelOutline model;
  uint32_t ctx = 0;
  KvType kv = KvType::f32;
  unsigned threads = 1;
  uint64_t kv_per_position = 0;
  std::vector<uint32_t> contexts, depths;
  MemoryLeft left;
  double bandwidth = 0;  // GB/s that reading gives; 0: not measured
  std::vector<FitRow> rows;
};

// ctx 0: the model's own, at most 4096. Throws Error for a context beyond the model's.
Fit fit_of(const ModelOutline& m, uint32_t ctx, KvType kv, unsigned threads, const MemoryLeft& left, double bandwidth);

std::string fit_text(const Fit& f);
std::string fit_json(const Fit& f);

}  // namespace nyb
