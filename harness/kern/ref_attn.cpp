// ref_attn.cpp - attention of queries that share keys over one segment of the cache, and the merge of segments.
#include "kern/f16.h"
#include "kern/ref.h"
#include "kern/ref_mem.h"
#include "kern/ref_scalar.h"

namespace nyb::ref {
namespace {

constexpr size_t kLanes = 16;  // positions of a block of keys

float cached(const float* base, size_t i) { return get(base, i); }
float cached(const uint16_t* base, size_t i) { return f16_to_f32(get(base, i)); }

constexpr size_t kRow = 256;      // scores of a query
constexpr size_t kGroupLen = 32;  // dimensions

template <class T>
void score(const float* q, const T* k, float* s, size_t head_dim, size_t blocks, size_t queries, float scale) {
  for (size_t i = 0; i < queries; ++i)
    for (size_t block = 0; block < blocks; ++block) {
      float acc[kLanes] = {};
      for (size_t d = 0; d < head_dim; ++d) {
        const float in = get(q, d * queries + i);
        for (size_t t = 0; t < kLanes; ++t) acc[t] = fma_once(in, cached(k, (block * head_dim + d) * kLanes + t), acc[t]);
      }
      for (size_t t = 0; t < kLanes; ++t) put(s, i * kRow + block * kLanes + t, acc[t] * scale);
    }
}

// v[t][d]
float cached(const float* v, size_t width, size_t t, size_t d) { return cached(v, t * width + d); }
float cached(const uint16_t* v, size_t width, size_t t, size_t d) { return cached(v, t * width + d); }
float cached(const void* v, size_t width, size_t t, size_t d) {
  const auto* group = static_cast<const uint8_t*>(v) + (t * (width / kGroupLen) + d / kGroupLen) * kValueGroupBytes;
  const auto q = static_cast<int8_t>(group[sizeof(float) + d % kGroupLen]);
  return static_cast<float>(q) * get(reinterpret_cast<const float*>(group), 0);
}

template <class T>
void mix(const float* p, const T* v, float* o, size_t n, size_t width, size_t queries) {
  for (size_t i = 0; i < queries; ++i)
    for (size_t d = 0; d < width; ++d) {
      float acc = get(o, i * width + d);
      for (size_t t = 0; t < n; ++t) acc = fma_once(get(p, i * kRow + t), cached(v, width, t, d), acc);
      put(o, i * width + d, acc);
    }
}

}  // namespace

void attn_score_f32(const float* q, const float* k, float* s, size_t head_dim, size_t blocks, size_t queries, float scale) {
  score(q, k, s, head_dim, blocks, queries, scale);
}

void attn_score_f16(const float* q, const uint16_t* k, float* s, size_t head_dim, size_t blocks, size_t queries, float scale) {
  score(q, k, s, head_dim, blocks, queries, scale);
}

void attn_score_q8(const QxGroup* q, const void* k, float* s, size_t groups, size_t blocks, size_t queries, float scale) {
  for (size_t i = 0; i < queries; ++i)
    for (size_t block = 0; block < blocks; ++block)
      for (size_t t = 0; t < kLanes; ++t) {
        float acc = 0;
        for (size_t g = 0; g < groups; ++g) {
          const auto* keys = static_cast<const uint8_t*>(k) + (block * groups + g) * kKeyGroupBytes;
          const QxGroup in = get(q, g * queries + i);
          int32_t sum = 0;
          for (size_t d = 0; d < kGroupLen; ++d) sum += static_cast<int8_t>(keys[(d / 4 * kLanes + t) * 4 + d % 4]) * in.q[d];
          const float key_scale = get(reinterpret_cast<const float*>(keys + kGroupLen * kLanes), t);
          acc = fma_once(static_cast<float>(sum), key_scale * in.scale, acc);
        }
        put(s, i * kRow + block * kLanes + t, acc * scale);
      }
}

void attn_mix_f32(const float* p, const float* v, float* o, size_t n, size_t width, size_t queries) {
  mix(p, v, o, n, width, queries);
}

void attn_mix_f16(const float* p, const uint16_t* v, float* o, size_t n, size_t width, size_t queries) {
  mix(p, v, o, n, width, queries);
}

void attn_mix_q8(const float* p, const void* v, float* o, size_t n, size_t width, size_t queries) {
  mix(p, v, o, n, width, queries);
}

// The order in which memory is read is no part of the definition.
void attn_score_f32_pages(const float* q, const float* k, float* s, size_t head_dim, size_t blocks, size_t queries, float scale) {
  score(q, k, s, head_dim, blocks, queries, scale);
}
void attn_score_f16_pages(const float* q, const uint16_t* k, float* s, size_t head_dim, size_t blocks, size_t queries,
                          float scale) {
  score(q, k, s, head_dim, blocks, queries, scale);
}
void attn_mix_f32_pages(const float* p, const float* v, float* o, size_t n, size_t width, size_t queries) {
  mix(p, v, o, n, width, queries);
}
void attn_mix_f16_pages(const float* p, const uint16_t* v, float* o, size_t n, size_t width, size_t queries) {
  mix(p, v, o, n, width, queries);
}

void attn_merge(const float* ml, const float* o, float* out, size_t segments, size_t head_dim, size_t stride) {
  float max = get(ml, 0);
  for (size_t k = 1; k < segments; ++k) {
    const float m = get(ml, 2 * k);
    if (m > max) max = m;
  }
  float total = 0;
  for (size_t k = 0; k < segments; ++k) total = fma_once(exp8_once(get(ml, 2 * k) - max), get(ml, 2 * k + 1), total);
  const float inv = 1.0f / total;
  for (size_t d = 0; d < head_dim; ++d) {
    float acc = 0;
    for (size_t k = 0; k < segments; ++k) acc = fma_once(exp8_once(get(ml, 2 * k) - max), get(o, k * stride + d), acc);
    put(out, d, acc * inv);
  }
}

}  // namespace nyb::ref
