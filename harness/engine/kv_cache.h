// kv_cache.h - the keys and values of the positions so far.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "engine/buffer.h"
#include "kern/kern.h"
#include "model/model.h"

namespace nyb {

enum class KvType { f32, f16, q8 };
inline constexpr KvType kKvTypes[] = {KvType::f32, KvType::f16, KvType::q8};
std::string_view kv_name(KvType t);
KvType kv_parse(std::string_view name);  // throws Error listing the valid ones
std::string kv_names();                  // "f32, f16, q8"

inline constexpr size_t kKeyBlock = 16;  // positions whose keys lie together: lanes of the score kernels

// Bytes of the keys and values of one KV head at one position.
uint64_t kv_head_bytes(KvType t, uint64_t head_dim);
// Of one position in all layers: what a longer context takes.
uint64_t kv_bytes_per_position(const ModelShape& shape, KvType t);
// Of the keys and values that a token at `pos` looks at, its own included: of a layer with a window those within it.
uint64_t kv_read_bytes(const ModelShape& shape, KvType t, uint64_t pos);

// Floats of a row of values, and of what is mixed of them: the head dimension and zeros that fill it up.
size_t kv_width(KvType t, size_t head_dim);
// What KvCache::store and KvCache::arrange, for up to `queries` queries, take as scratch or write.
size_t kv_scratch_bytes(KvType t, size_t head_dim, size_t queries);

// For each layer and KV head keys in blocks of 16 positions, so that a lane of the score kernels is a position, and values in rows,
// so that a lane of the mix kernels is a dimension (docs/kernels.md, "Memory"). Zeroed, so that the positions of a block that are
// not there yet are defined; nothing is ever computed from them.
class KvCache {
 public:
  // Throws Error when there is no memory for ctx positions.
  KvCache(const ModelShape& shape, uint32_t ctx, KvType type);
  KvType type() const { return type_; }
  size_t dim() const { return dim_; }
  size_t bytes() const { return keys_.bytes() + values_.bytes(); }

  // One position of one layer: k and v are [kv_heads][head_dim]. False: a value is beyond f16's range, or, in q8, not finite.
  // Different positions may be stored by different threads. scratch: kv_scratch_bytes of the calling thread's own, on 64 bytes.
  bool store(const KernTable& kern, size_t layer, size_t pos, const float* k, const float* v, uint8_t* scratch);

  // Queries as score() takes them: `heads` heads of head_dim, one after the other, of each of `tokens` tokens, which are `stride`
  // floats apart; in the order [token][head], kMostQueries (attention.h) at most. The first token with a value that is not finite,
  // where that is looked for (q8); tokens: there is none.
  size_t arrange(const KernTable& kern, const float* q, size_t stride, size_t heads, size_t tokens, uint8_t* out) const;
  // s[256 * i + t], t < 16 * blocks: the score of query i against position pos + t; pos is a multiple of 16, blocks at most 16.
  // What follows, up to position `end`, is wanted later: a table that asks by pages does so meanwhile.
  void score(const KernTable& kern, size_t layer, size_t head, size_t pos, size_t blocks, const uint8_t* arranged, size_t queries,
             float* s, float scale, size_t end) const;
  // o[queries][kv_width] goes on with the n values from pos on, at most 256, weighted by p[256 * i + t]. `end` as in score.
  void mix(const KernTable& kern, size_t layer, size_t head, size_t pos, size_t n, const float* p, size_t queries, float* o,
           size_t end) const;

 private:
  size_t key_at(size_t layer, size_t head, size_t pos) const;    // bytes; of the block that pos is in
  size_t value_at(size_t layer, size_t head, size_t pos) const;  // bytes; of its row

  KvType type_;
  size_t heads_, dim_, positions_;  // positions_ is a multiple of 16
  Buffer<uint8_t> keys_, values_;
};

}  // namespace nyb
