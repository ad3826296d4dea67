// attention.cpp - segment by segment, then the segments' parts into one.
#include "engine/attention.h"

#include <algorithm>

namespace nyb {

AttnScratch::AttnScratch(size_t queries, size_t ctx, size_t head_dim) : segments((ctx + kSegment - 1) / kSegment) {
  constexpr char what[] = "attention's working memory";
  scores = Buffer<float>(what, {kSegment});
  parts = Buffer<float>(what, {queries, segments, 2});
  mixed = Buffer<float>(what, {queries, segments, head_dim});
  half = Buffer<uint16_t>(what, {head_dim});
}

size_t AttnScratch::bytes_for(size_t queries, size_t ctx, size_t head_dim) {
  const size_t segments = (ctx + kSegment - 1) / kSegment;
  return sizeof(float) * (kSegment + queries * segments * (2 + head_dim)) + sizeof(uint16_t) * head_dim;
}

bool attend(const KernTable& kern, const KvCache& cache, const AttnView& view, size_t queries, size_t head_dim, const float* q,
            float* out, AttnScratch& scratch) {
  float* const s = scratch.scores.data();
  const size_t base = view.first / kSegment, segments = (view.end + kSegment - 1) / kSegment - base;
  const auto part = [&](size_t i, size_t k) { return scratch.parts.at((i * scratch.segments + k) * 2); };
  const auto mixed = [&](size_t i, size_t k) { return scratch.mixed.at((i * scratch.segments + k) * head_dim); };

  // Segments outside, queries inside: a segment's keys and values are read from memory once for all of them.
  for (size_t k = 0; k < segments; k++) {
    const size_t begin = std::max((base + k) * kSegment, view.first), n = std::min((base + k + 1) * kSegment, view.end) - begin;
    const size_t skip = begin % 16;  // a window may begin within a block
    for (size_t i = 0; i < queries; i++) {
      float* ml = part(i, k);
      // Whole blocks are scored; what lies before and after the visible positions is never looked at.
      cache.score(kern, view.layer, view.kv_head, begin - skip, (skip + n + 15) / 16, q + i * head_dim, s, view.scale);
      float* const seen = s + skip;
      if (kern.vec_max(seen, &ml[0], n) != 0) return false;
      ml[1] = kern.softmax_num(seen, seen, n, ml[0], 1.0f);
      cache.mix(kern, view.layer, view.kv_head, begin, n, seen, mixed(i, k));
    }
  }
  for (size_t i = 0; i < queries; i++) kern.attn_merge(part(i, 0), mixed(i, 0), out + i * head_dim, segments, head_dim);
  return true;
}

}  // namespace nyb
