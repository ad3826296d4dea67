// engine.h - from token ids to logits.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include "engine/pool.h"
#include "kern/kern.h"
#include "model/model.h"

namespace nyb {

enum class KvType { f32, f16 };
std::string_view kv_name(KvType t);
KvType kv_parse(std::string_view name);   // throws Error listing the valid ones

struct EngOptions {
  uint32_t ctx = 0;         // positions in the cache; 0: the model's longest. Throws when above it
  KvType kv = KvType::f32;
  uint32_t chunk = 32;      // prompt tokens a pass works on together; decides no bit
};

class Engine {
 public:
  // model, table and pool must outlive the engine.
  Engine(const Model& model, const KernTable& kern, Pool& pool, const EngOptions& opt = {});
  ~Engine();
  const Model& model() const;
  const KernTable& kern() const;
  uint32_t ctx() const;
  KvType kv() const;
  size_t kv_bytes() const, work_bytes() const;   // allocated
  uint32_t filled() const;                       // positions the cache holds

 private:
  friend struct EngStep;
  struct Impl;
  std::unique_ptr<Impl> impl_;
  friend void eng_step(Engine&, std::span<const int32_t>, uint32_t, std::span<float>);
};

// Runs ids at positions pos, pos+1, ... (pos <= filled(); what the cache held from pos on is replaced), chunk by chunk.
// `logits` receives vocab floats of the last position, or ids.size() * vocab floats, those of every position, by its size;
// empty: none are computed. Throws Error: an id outside the vocabulary, more positions than the context (both numbers), or
// a value that is not finite (naming the layer). After a throw the cache holds pos positions.
void eng_step(Engine& e, std::span<const int32_t> ids, uint32_t pos, std::span<float> logits);

}  // namespace nyb
