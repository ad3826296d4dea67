// kv_cache.cpp - layout and type of the cache; the arithmetic is the kernels'.
#include "engine/kv_cache.h"

#include <algorithm>
#include <cstring>

namespace nyb {
namespace {

// Of sixteen keys, and of one row of values.
size_t block_bytes(KvType t, size_t dim) {
  switch (t) {
    case KvType::f32: break;
    case KvType::f16: return kKeyBlock * dim * sizeof(uint16_t);
    case KvType::q8: return groups_of(dim) * kKeyGroupBytes;
  }
  return kKeyBlock * dim * sizeof(float);
}
size_t row_bytes(KvType t, size_t dim) {
  switch (t) {
    case KvType::f32: break;
    case KvType::f16: return kv_width(t, dim) * sizeof(uint16_t);
    case KvType::q8: return groups_of(dim) * kValueGroupBytes;
  }
  return kv_width(t, dim) * sizeof(float);
}

// Element d of the row goes to lane `lane` of row d of the block.
template <class T>
void scatter(const T* row, T* block, size_t lane, size_t dim) {
  for (size_t d = 0; d < dim; d++) block[d * kKeyBlock + lane] = row[d];
}

// Quantized keys of one position to their lane of the block; groups of its values to their row.
void scatter(const QxGroup* groups, uint8_t* block, size_t lane, size_t count) {
  for (size_t g = 0; g < count; g++, block += kKeyGroupBytes) {
    for (size_t i = 0; i < kGroup; i += 4) std::memcpy(block + (i / 4 * kKeyBlock + lane) * 4, groups[g].q + i, 4);
    std::memcpy(block + kGroup * kKeyBlock + lane * sizeof(float), &groups[g].scale, sizeof(float));
  }
}
void put_row(const QxGroup* groups, uint8_t* row, size_t count) {
  for (size_t g = 0; g < count; g++, row += kValueGroupBytes) {
    std::memcpy(row, &groups[g].scale, sizeof(float));
    std::memcpy(row + sizeof(float), groups[g].q, kGroup);
  }
}

// Where the table asks by pages a call asks for as much as it reads, in the next 32 KiB (macros/stream.inc). A call takes so many
// positions: the mix goes through them several times and should find them in the first cache, and the closer to the end it can be,
// the better.
constexpr size_t kAtOnce = 64;
constexpr size_t kAhead = size_t{32} << 10;

// f(first, n, ask) for positions pos..pos+n-1, `row` bytes each, of which those up to `end` follow: whether to ask for them.
template <class F>
void by_order(const KernTable& kern, size_t pos, size_t n, size_t end, size_t row, F&& f) {
  const size_t most = kern.asks_pages() && pos < end ? kAtOnce : n;
  for (const size_t to = pos + n; pos < to; pos += most) {
    const size_t count = std::min(most, to - pos), next = pos + count;
    f(pos, count, kern.asks_pages() && next < end && (end - next) * row >= kAhead);
  }
}

template <class T>
T* as(uint8_t* p) {
  return reinterpret_cast<T*>(p);
}
template <class T>
const T* as(const uint8_t* p) {
  return reinterpret_cast<const T*>(p);
}

}  // namespace

std::string_view kv_name(KvType t) {
  switch (t) {
    case KvType::f32: break;
    case KvType::f16: return "f16";
    case KvType::q8: return "q8";
  }
  return "f32";
}

KvType kv_parse(std::string_view name) {
  for (const KvType t : kKvTypes)
    if (name == kv_name(t)) return t;
  throw Error("cache type \"" + std::string(name) + "\" is unknown: there are " + kv_names());
}

std::string kv_names() {
  std::string all;
  for (const KvType t : kKvTypes) all += (all.empty() ? "" : ", ") + std::string(kv_name(t));
  return all;
}

uint64_t kv_head_bytes(KvType t, uint64_t head_dim) { return block_bytes(t, head_dim) / kKeyBlock + row_bytes(t, head_dim); }

uint64_t kv_bytes_per_position(const ModelShape& shape, KvType t) {
  return uint64_t{shape.kv_heads} * shape.layers * kv_head_bytes(t, shape.head_dim);
}

uint64_t kv_read_bytes(const ModelShape& shape, KvType t, uint64_t pos) {
  uint64_t positions = 0;  // of all layers
  for (uint32_t layer = 0; layer < shape.layers; layer++) positions += pos + 1 - shape.first_seen(layer, pos);
  return shape.kv_heads * positions * kv_head_bytes(t, shape.head_dim);
}

size_t kv_width(KvType t, size_t head_dim) { return round_up(head_dim, t == KvType::q8 ? kGroup : kKeyBlock); }

size_t kv_scratch_bytes(KvType t, size_t head_dim, size_t queries) {
  return queries * (t == KvType::q8 ? groups_of(head_dim) * sizeof(QxGroup) : head_dim * sizeof(float));
}

KvCache::KvCache(const ModelShape& shape, uint32_t ctx, KvType type)
    : type_(type),
      heads_(shape.kv_heads),
      dim_(shape.head_dim),
      positions_(round_up(ctx, kKeyBlock)),
      keys_("the KV cache (give a smaller --ctx)", {shape.layers, heads_, positions_ / kKeyBlock, block_bytes(type, dim_)}),
      values_("the KV cache (give a smaller --ctx)", {shape.layers, heads_, positions_, row_bytes(type, dim_)}) {}

size_t KvCache::key_at(size_t layer, size_t head, size_t pos) const {
  return ((layer * heads_ + head) * positions_ + pos) / kKeyBlock * block_bytes(type_, dim_);
}

size_t KvCache::value_at(size_t layer, size_t head, size_t pos) const {
  return ((layer * heads_ + head) * positions_ + pos) * row_bytes(type_, dim_);
}

bool KvCache::store(const KernTable& kern, size_t layer, size_t pos, const float* k, const float* v, uint8_t* scratch) {
  uint32_t bad = 0;
  for (size_t h = 0; h < heads_; h++, k += dim_, v += dim_) {
    uint8_t *const block = keys_.at(key_at(layer, h, pos)), *const row = values_.at(value_at(layer, h, pos));
    if (type_ == KvType::f32) {
      scatter(k, as<float>(block), pos % kKeyBlock, dim_);
      std::memcpy(row, v, dim_ * sizeof(float));
    } else if (type_ == KvType::q8) {
      auto* const groups = as<QxGroup>(scratch);
      bad |= kern.qx_vec(k, groups, dim_);
      scatter(groups, block, pos % kKeyBlock, groups_of(dim_));
      bad |= kern.qx_vec(v, groups, dim_);
      put_row(groups, row, groups_of(dim_));
    } else {
      bad |= kern.f32_to_f16(k, as<uint16_t>(scratch), dim_);
      scatter(as<uint16_t>(scratch), as<uint16_t>(block), pos % kKeyBlock, dim_);
      bad |= kern.f32_to_f16(v, as<uint16_t>(row), dim_);
    }
  }
  return bad == 0;
}

size_t KvCache::arrange(const KernTable& kern, const float* q, size_t stride, size_t heads, size_t tokens, uint8_t* out) const {
  const size_t queries = heads * tokens;
  for (size_t i = 0; i < queries; i++) {
    const float* const from = q + i / heads * stride + i % heads * dim_;
    if (type_ == KvType::q8) {
      for (size_t d = 0; d < dim_; d += kGroup)
        if (kern.qx_vec(from + d, as<QxGroup>(out) + d / kGroup * queries + i, std::min(kGroup, dim_ - d)) != 0) return i / heads;
    } else {
      for (size_t d = 0; d < dim_; d++) as<float>(out)[d * queries + i] = from[d];
    }
  }
  return tokens;
}

void KvCache::score(const KernTable& kern, size_t layer, size_t head, size_t pos, size_t blocks, const uint8_t* arranged,
                    size_t queries, float* s, float scale, size_t end) const {
  if (type_ == KvType::q8)
    return kern.attn_score_q8(as<QxGroup>(arranged), keys_.at(key_at(layer, head, pos)), s, groups_of(dim_), blocks, queries,
                              scale);
  const auto* const q = as<float>(arranged);
  by_order(kern, pos, blocks * kKeyBlock, end, row_bytes(type_, dim_), [&](size_t at, size_t n, bool ask) {
    const uint8_t* const block = keys_.at(key_at(layer, head, at));
    float* const to = s + (at - pos);
    if (type_ == KvType::f32)
      (ask ? kern.attn_score_f32_pages : kern.attn_score_f32)(q, as<float>(block), to, dim_, n / kKeyBlock, queries, scale);
    else
      (ask ? kern.attn_score_f16_pages : kern.attn_score_f16)(q, as<uint16_t>(block), to, dim_, n / kKeyBlock, queries, scale);
  });
}

void KvCache::mix(const KernTable& kern, size_t layer, size_t head, size_t pos, size_t n, const float* p, size_t queries, float* o,
                  size_t end) const {
  const size_t width = kv_width(type_, dim_);
  if (type_ == KvType::q8) return kern.attn_mix_q8(p, values_.at(value_at(layer, head, pos)), o, n, width, queries);
  by_order(kern, pos, n, end, row_bytes(type_, dim_), [&](size_t at, size_t count, bool ask) {
    const uint8_t* const v = values_.at(value_at(layer, head, at));
    const float* const weights = p + (at - pos);
    if (type_ == KvType::f32)
      (ask ? kern.attn_mix_f32_pages : kern.attn_mix_f32)(weights, as<float>(v), o, count, width, queries);
    else
      (ask ? kern.attn_mix_f16_pages : kern.attn_mix_f16)(weights, as<uint16_t>(v), o, count, width, queries);
  });
}

}  // namespace nyb
