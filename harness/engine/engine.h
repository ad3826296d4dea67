// engine.h - from token ids to logits.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include "engine/kv_cache.h"
#include "engine/pool.h"
#include "kern/kern.h"
#include "model/model.h"

namespace nyb {

class StageClock;

// Steps of one token at a lower position than this run with narrow_table: from there on attention is what takes time beside the
// products, and it computes.
inline constexpr size_t kNarrowPositions = 512;

struct EngOptions {
  uint32_t ctx = 0;  // positions in the cache; 0: the model's longest. Throws when above it
  KvType kv = KvType::f32;
  uint32_t chunk = 64;  // prompt tokens a pass works on together; decides no bit
  // Where given, eng_step looks at it before every chunk and every layer, and throws Cancelled once it is true: another
  // thread or a signal handler may set it (a lock-free atomic). Whoever sets it takes it back. Must outlive the engine.
  const std::atomic<bool>* cancel = nullptr;
  // Where given, eng_step adds up there how long each stage takes (stage_clock.h): of the engine's own pool, and outlives the
  // engine.
  StageClock* clock = nullptr;
};

// Thrown by eng_step because *EngOptions::cancel was true. Not an Error: nothing is wrong. The cache holds pos positions.
struct Cancelled {};

class Engine {
 public:
  // model, table and pool must outlive the engine.
  Engine(const Model& model, const KernTable& kern, Pool& pool, const EngOptions& opt = {});
  ~Engine();
  const Model& model() const;
  const KernTable& kern() const;
  const KernTable& narrow() const;  // narrow_table of it, which is for the sampler too
  uint32_t ctx() const;
  KvType kv() const;
  size_t kv_bytes() const, work_bytes() const;  // allocated
  uint32_t filled() const;                      // positions the cache holds

 private:
  friend struct EngStep;
  struct Impl;
  std::unique_ptr<Impl> impl_;
  friend void eng_step(Engine&, std::span<const int32_t>, uint32_t, std::span<float>);
  friend void eng_fill(Engine&, uint32_t);
};

// Runs ids at positions pos, pos+1, ... (pos <= filled(); what the cache held from pos on is replaced), chunk by chunk.
// `logits` receives vocab floats of the last position, or ids.size() * vocab floats, those of every position, by its size;
// empty: none are computed. No ids: the cache is cut back to pos positions. Throws Error: an id outside the vocabulary, more
// positions than the context (both numbers), a value that is not finite or does not fit the cache's type (naming layer, stage
// and position); throws Cancelled (above). After a throw the cache holds pos positions and the engine can go on from there.
// Runs under MXCSR 0x1F80 and restores the caller's. Not reentrant: one step at a time on an engine, and on a pool.
void eng_step(Engine& e, std::span<const int32_t> ids, uint32_t pos, std::span<float> logits);

// What an Engine of these would allocate, without a model at hand: work_bytes() of one with `threads` threads, its cache apart.
// Throws what Engine throws for the options.
size_t eng_work_bytes(const ModelShape& shape, const EngOptions& opt, unsigned threads);

// For measurements at depth: the cache holds made-up keys and values of `positions` positions, as if a prompt had been read, in the
// time that writing them takes. Throws Error for more positions than the context.
void eng_fill(Engine& e, uint32_t positions);

// Bytes of weights that one token reads: all but an input embedding of its own, of which it reads one row.
uint64_t bytes_per_token(const Model& m);

}  // namespace nyb
