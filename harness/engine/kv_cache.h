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

enum class KvType { f32, f16 };
inline constexpr KvType kKvTypes[] = {KvType::f32, KvType::f16};
std::string_view kv_name(KvType t);
KvType kv_parse(std::string_view name);  // throws Error listing the valid ones
std::string kv_names();                  // "f32, f16"

// Bytes of the keys, or of the values, of one KV head at one position.
uint64_t kv_head_bytes(KvType t, uint64_t head_dim);
// Of the keys and values of one position in all layers: what a longer context takes.
uint64_t kv_bytes_per_position(const ModelShape& shape, KvType t);
// Of the keys and values that a token at `pos` looks at, its own included: of a layer with a window those within it.
uint64_t kv_read_bytes(const ModelShape& shape, KvType t, uint64_t pos);

// For each layer and KV head keys as [block of 16 positions][head_dim][16], so that a lane of the score kernels is a position,
// and values as [position][head_dim], so that a lane of the mix kernels is a dimension. Zeroed, so that the positions of a
// block that are not there yet are defined; nothing is ever computed from them.
class KvCache {
 public:
  // Throws Error when there is no memory for ctx positions.
  KvCache(const ModelShape& shape, uint32_t ctx, KvType type);
  KvType type() const { return type_; }
  size_t bytes() const { return keys_.bytes() + values_.bytes(); }

  // One position of one layer: k and v are [kv_heads][head_dim]. False: in f16 a value is beyond its range. Different positions
  // may be stored by different threads. scratch: head_dim elements of the calling thread's own.
  bool store(const KernTable& kern, size_t layer, size_t pos, const float* k, const float* v, uint16_t* scratch);

  // s[16 * blocks] = scores of q against the blocks from position pos (a multiple of 16) on
  void score(const KernTable& kern, size_t layer, size_t head, size_t pos, size_t blocks, const float* q, float* s,
             float scale) const;
  // o[head_dim] = the n values from pos on, weighted by p
  void mix(const KernTable& kern, size_t layer, size_t head, size_t pos, size_t n, const float* p, float* o) const;

 private:
  size_t key_at(size_t layer, size_t head, size_t pos) const;    // bytes; of the block that pos begins
  size_t value_at(size_t layer, size_t head, size_t pos) const;  // bytes

  KvType type_;
  size_t size_, heads_, dim_, positions_;  // bytes of an element; positions_ is a multiple of 16
  Buffer<uint8_t> keys_, values_;
};

}  // namespace nyb
