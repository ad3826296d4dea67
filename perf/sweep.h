// sweep.h - whole models: decode, prompt, and decode at depth, for each kernel path, weight type and number of threads.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>
#include "engine/engine.h"
#include "kern/cpu.h"
#include "kern/kern.h"
#include "model/model.h"
#include "probe/probe.h"
#include "spread.h"

namespace nyb {

// What a measurement can give, in tokens or GB a second: all else comes of a damaged file, and its ratios would leave the range of
// a double.
constexpr bool is_speed(double v) { return v >= 1e-9 && v <= 1e12; }

struct SweepOptions {
  std::vector<std::string> shapes;                    // names of shapes.h, with random weights
  std::vector<std::string> models;                    // model files
  std::vector<TType> types = {TType::q8, TType::q4};  // of the shapes
  std::vector<LoadMode> loads = {LoadMode::map};      // how models and shapes come into memory
  std::vector<Path> paths;                            // none: all of this CPU but ref
  std::vector<uint32_t> threads;                      // none: one, and what the programs choose
  std::vector<uint32_t> gen = {64}, prompt = {128}, depth = {0};
  std::vector<KvType> kv = {KvType::f32};
  uint32_t repetitions = 5, chunk = EngOptions{}.chunk;
  size_t read_bytes = 0;  // of memory that is read for the bandwidth; 0: probe_size()
};

struct SweepRow {
  std::string model, type, load;  // load: the kind of memory that the weights are in, as probe_kind_name calls it
  uint64_t params = 0, weight_bytes = 0;
  Path path = Path::ref;
  unsigned threads = 1;
  KvType kv = KvType::f32;
  uint32_t chunk = 0, prompt = 0, gen = 0, depth = 0;  // prompt or gen; the chunk as the engine takes it
  double bytes_per_token = 0;                          // weights, and keys and values at this depth; of a prompt 0
  double macs_per_token = 0;
  std::vector<double> samples;  // tokens a second
  // GB/s of the fastest read loop on as many threads in memory of that kind, right before and right after each sample, both
  // together. As many as samples; none of a prompt, of a breakdown, and of a file of an earlier version.
  std::vector<double> reads;
  double file_bandwidth = 0;  // GB/s that a file without them has instead: of the whole run

  std::string test() const;  // "tg64", "pp128", "tg64 @ d4096"
  double speed() const;      // median
  double spread() const { return spread_of(samples); }
  double gbs() const { return speed() * bytes_per_token * 1e-9; }
  double bandwidth() const;            // GB/s: the median of the reads; 0: not known
  std::vector<double> shares() const;  // each sample's GB/s / its reading; empty where there are none
  double share() const;                // their median; without them gbs() / bandwidth()
  double ceiling() const { return bytes_per_token > 0 ? bandwidth() * 1e9 / bytes_per_token : 0; }
  double gmacs() const { return speed() * macs_per_token * 1e-9; }
  // Operations per byte that comes from memory, a multiply-add counted as one; a prompt reads the weights once for each chunk. 0:
  // not known.
  double macs_per_byte() const;
};

struct SweepProbe {
  unsigned threads = 1;
  std::string kind, loop;
  size_t bytes = 0;             // that are read
  std::vector<double> samples;  // GB/s
  PlainSpeed plain;
  bool weights = false;  // weights of this run are in memory of this kind

  double best() const;  // the greatest sample; 0 where there is none
};

struct Sweep {
  std::vector<SweepRow> rows;
  std::vector<SweepProbe> probes;
  std::vector<std::string> missing;  // "vnni8: this CPU lacks AVX-VNNI-INT8"; orders of reading; what is not as the heads say
};

// The table of a path; another for a test that wants a wrong kernel.
using TableOf = std::function<const KernTable&(Path)>;

// Checks first that every kernel of every path gives the reference's bytes on each model's shapes, and that all paths give the same
// logits. Then runs all rows, those of decode between two readings of memory, and the read loops, in an order that Google Benchmark
// draws. Throws Error naming the path that differs, and for what cannot be run; Interrupted.
Sweep run_sweep(const CpuFeatures& cpu, const SweepOptions& o, const TableOf& table = kern_table);

}  // namespace nyb
