// attention.cpp - a segment for a tile of queries, and the segments' parts into one.
#include "engine/attention.h"

#include <algorithm>

namespace nyb {
namespace {

constexpr char kWhat[] = "attention's working memory";

size_t segments_of(uint32_t ctx) { return (ctx + kSegment - 1) / kSegment; }
size_t parts_of(unsigned threads) { return threads * tiles_together(threads); }

}  // namespace

AttnTiles::AttnTiles(const ModelShape& shape, size_t tokens)
    : group_(shape.heads / shape.kv_heads), tokens_(tokens), kv_heads_(shape.kv_heads) {
  const size_t least = (group_ + kMostQueries - 1) / kMostQueries;
  heads_ = (group_ + least - 1) / least;
  parts_ = (group_ + heads_ - 1) / heads_;
  per_tile_ = std::min(tokens, kMostQueries / heads_);
}

size_t AttnTiles::count() const { return kv_heads_ * parts_ * ((tokens_ + per_tile_ - 1) / per_tile_); }

AttnTile AttnTiles::operator[](size_t i) const {
  const size_t rows = (tokens_ + per_tile_ - 1) / per_tile_, part = i / rows % parts_, kv_head = i / rows / parts_;
  const size_t token = i % rows * per_tile_, head = part * heads_;
  return {kv_head * group_ + head, std::min(heads_, group_ - head), token, std::min(per_tile_, tokens_ - token)};
}

size_t AttnTiles::alike(size_t i) const {
  const size_t of_head = parts_ * ((tokens_ + per_tile_ - 1) / per_tile_);
  return of_head - i % of_head;
}

AttnWork::AttnWork(const ModelShape& shape, uint32_t ctx, KvType type, unsigned threads)
    : scratch(threads), parts(parts_of(threads)), missing(parts_of(threads)), segments(segments_of(ctx)) {
  for (Scratch& s : scratch) {
    s.scores = Buffer<float>(kWhat, {kMostQueries, kSegment});
    for (Buffer<uint8_t>& q : s.queries) q = Buffer<uint8_t>(kWhat, {kv_scratch_bytes(type, shape.head_dim, kMostQueries)});
  }
  for (Parts& p : parts) {
    p.ml = Buffer<float>(kWhat, {kMostQueries, segments, 2});
    p.mixed = Buffer<float>(kWhat, {segments, kMostQueries, kv_width(type, shape.head_dim)});
  }
}

size_t AttnWork::bytes_for(const ModelShape& shape, uint32_t ctx, KvType type, unsigned threads) {
  const size_t one_scratch =
      sizeof(float) * kMostQueries * kSegment + kTogether * kv_scratch_bytes(type, shape.head_dim, kMostQueries);
  const size_t one_parts = sizeof(float) * kMostQueries * segments_of(ctx) * (2 + kv_width(type, shape.head_dim));
  return threads * one_scratch + parts_of(threads) * one_parts;
}

size_t AttnWork::bytes() const {
  size_t n = 0;
  for (const Scratch& s : scratch) {
    n += s.scores.bytes();
    for (const Buffer<uint8_t>& q : s.queries) n += q.bytes();
  }
  for (const Parts& p : parts) n += p.ml.bytes() + p.mixed.bytes();
  return n;
}

size_t attend_segment(const KernTable& kern, const KvCache& cache, const AttnView& view, size_t k, const uint8_t* queries,
                      float* scores, AttnWork::Parts& parts, size_t most_segments) {
  const size_t heads = view.tile.heads, width = kv_width(cache.type(), cache.dim());
  const size_t from = (view.base() + k) * kSegment, to = from + kSegment;
  const auto begin = [&](size_t i) { return std::max(view.first[i], from); };
  const auto end = [&](size_t i) { return std::min(view.end[i], to); };
  // a chunk's later tokens find in the last cache what its first ones brought
  const size_t last = view.tile.token == 0 ? view.end[view.tile.tokens - 1] : 0;
  float* const mixed = parts.mixed.at(k * view.tile.queries() * width);

  // The tokens that see anything of it: lo..hi-1.
  size_t lo = 0, hi = view.tile.tokens;
  while (view.end[lo] <= from) lo++;
  while (view.first[hi - 1] >= to) hi--;

  // Whole blocks are scored; what a token does not see of them is never looked at.
  const size_t first = begin(lo) / kKeyBlock * kKeyBlock, blocks = (end(hi - 1) - first + kKeyBlock - 1) / kKeyBlock;
  cache.score(kern, view.layer, view.kv_head, first, blocks, queries, view.tile.queries(), scores + (first - from), view.scale,
              last);
  for (size_t i = lo * heads; i < hi * heads; i++) {
    float* const seen = scores + i * kSegment + (begin(i / heads) - from);
    const size_t n = end(i / heads) - begin(i / heads);
    float* const ml = parts.ml.at((i * most_segments + k) * 2);
    if (kern.vec_max(seen, &ml[0], n) != 0) return i / heads;
    ml[1] = kern.softmax_num(seen, seen, n, ml[0], 1.0f);
  }

  std::fill_n(mixed, view.tile.queries() * width, 0.0f);
  // Stretches of positions that the same tokens see, x..y-1; mostly there is only one.
  for (size_t at = begin(lo), x = lo, y = lo; at < end(hi - 1);) {
    while (end(x) <= at) x++;
    while (y < hi && begin(y) <= at) y++;
    const size_t stop = y < hi ? std::min(end(x), begin(y)) : end(x);
    cache.mix(kern, view.layer, view.kv_head, at, stop - at, scores + x * heads * kSegment + (at - from), (y - x) * heads,
              mixed + x * heads * width, last);
    at = stop;
  }
  return view.tile.tokens;
}

void attend_merge(const KernTable& kern, const KvCache& cache, const AttnView& view, size_t query, AttnWork::Parts& parts,
                  size_t most_segments, float* out) {
  const size_t token = query / view.tile.heads, width = kv_width(cache.type(), cache.dim()), row = view.tile.queries() * width;
  const size_t from = view.first[token] / kSegment - view.base(), to = (view.end[token] - 1) / kSegment + 1 - view.base();
  kern.attn_merge(parts.ml.at((query * most_segments + from) * 2), parts.mixed.at(from * row + query * width), out, to - from,
                  cache.dim(), row);
}

}  // namespace nyb
