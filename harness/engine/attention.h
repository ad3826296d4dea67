// attention.h - what queries see of the positions before them (docs/numerics.md, "Attention").
#pragma once
#include <cstddef>

#include "engine/buffer.h"
#include "engine/kv_cache.h"
#include "kern/kern.h"

namespace nyb {

inline constexpr size_t kSegment = 256;  // absolute positions; fixed by the numerics

// Memory that attention of one thread works in.
class AttnScratch {
 public:
  AttnScratch() = default;
  // For at most `queries` queries at a time over at most ctx positions. Throws Error when there is no memory.
  AttnScratch(size_t queries, size_t ctx, size_t head_dim);
  static size_t bytes_for(size_t queries, size_t ctx, size_t head_dim);  // of one made so
  size_t bytes() const { return scores.bytes() + parts.bytes() + mixed.bytes() + half.bytes(); }

  Buffer<float> scores;   // [kSegment]
  Buffer<float> parts;    // [queries][segments][2]: a segment's maximum and sum
  Buffer<float> mixed;    // [queries][segments][head_dim]
  Buffer<uint16_t> half;  // [head_dim], for KvCache::store
  size_t segments = 0;
};

// Where a group of queries looks.
struct AttnView {
  size_t layer, kv_head;
  size_t first, end;  // positions first..end-1, at least one
  float scale;
};

// `queries` heads that share a KV head, q and out [queries][head_dim]. False: a score is not finite.
bool attend(const KernTable& kern, const KvCache& cache, const AttnView& view, size_t queries, size_t head_dim, const float* q,
            float* out, AttnScratch& scratch);

}  // namespace nyb
