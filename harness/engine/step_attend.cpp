// step_attend.cpp - the attention stage: tiles of queries over the threads, cut into segments where there are too few of them.
#include <algorithm>

#include "engine/step.h"

namespace nyb {

AttnView EngStep::view_of(size_t layer, const AttnTile& tile) const {
  AttnView v{layer, tile.head / (m.shape.heads / m.shape.kv_heads), tile, m.shape.attn_scale, {}, {}};
  for (size_t i = 0; i < tile.tokens; i++) {
    v.first[i] = m.shape.first_seen(layer, pos_ + tile.token + i);
    v.end[i] = pos_ + tile.token + i + 1;
  }
  return v;
}

// Its output is made ready for o as well, by whoever merged it; false: where a group belongs to heads of two tiles it is not.
bool EngStep::attend_all(size_t layer, bool groups) {
  const AttnTiles tiles(m.shape, tokens_);
  const size_t dim = m.shape.head_dim, count = tiles.count();
  const size_t most = (pos_ + tokens_ - 1) / kSegment + 1 - m.shape.first_seen(layer, pos_) / kSegment;  // segments of a tile
  const bool cut = most > 1 && m.attn.cut(count);
  const size_t pieces = cut ? most : 1;
  for (size_t i = 0; cut && i < count; i++) m.attn.missing[i].store(most, std::memory_order_relaxed);
  const size_t together = tiles_together(m.pool.threads());
  const bool apart = tiles.apart(dim);
  Fault fault, value;

  const auto arranged = [&](size_t i, uint8_t* queries) {
    const AttnTile t = tiles[i];
    const size_t whole = m.cache.arrange(kern(), m.q[t.token] + t.head * dim, m.q.stride(), t.heads, t.tokens, queries);
    if (whole < t.tokens) fault.mark(t.token + whole);
    return view_of(layer, t);
  };
  const auto segment = [&](const AttnView& view, size_t k, const uint8_t* queries, AttnWork::Parts& parts, unsigned thread) {
    float* const scores = m.attn.scratch[thread].scores.data();
    const size_t bad = attend_segment(kern(), m.cache, view, k, queries, scores, parts, m.attn.segments);
    if (bad < view.tile.tokens) fault.mark(view.tile.token + bad);
  };
  const auto merge = [&](const AttnView& view, AttnWork::Parts& parts) {
    for (size_t q = 0; q < view.tile.queries(); q++) {
      const size_t token = view.tile.token + q / view.tile.heads, head = view.tile.head + q % view.tile.heads;
      attend_merge(kern(), m.cache, view, q, parts, m.attn.segments, m.att[token] + head * dim);
    }
    const size_t from = view.tile.head * dim, end = view.tile.token + view.tile.tokens;
    for (size_t t = view.tile.token; apart && t < end; t++)
      if (!prepare(m.att[t] + from, m.wide[t] + from / kGroup, view.tile.heads * dim, groups)) value.mark(t);
  };

  // Segments k..end-1 of a tile; whoever does the last of them puts them all together.
  const auto some_segments = [&](size_t i, size_t k, size_t end, unsigned thread) {
    uint8_t* const queries = m.attn.scratch[thread].queries[0].data();
    const AttnView view = arranged(i, queries);
    for (size_t at = k; at < std::min(end, view.segments()); at++) segment(view, at, queries, m.attn.parts[i], thread);
    // acquire and release: the last one sees what the others wrote
    if (m.attn.missing[i].fetch_sub(end - k, std::memory_order_acq_rel) == end - k) merge(view, m.attn.parts[i]);
  };
  // n tiles that look at the same keys, segment by segment.
  const auto whole_tiles = [&](size_t i, size_t n, unsigned thread) {
    AttnView views[kTogether];
    size_t first = SIZE_MAX, end = 0;
    for (size_t j = 0; j < n; j++) {
      views[j] = arranged(i + j, m.attn.scratch[thread].queries[j].data());
      first = std::min(first, views[j].base());
      end = std::max(end, views[j].base() + views[j].segments());
    }
    AttnWork::Parts* const parts = &m.attn.parts[thread * together];
    for (size_t at = first; at < end; at++)
      for (size_t j = 0; j < n; j++)
        if (at >= views[j].base() && at < views[j].base() + views[j].segments())
          segment(views[j], at - views[j].base(), m.attn.scratch[thread].queries[j].data(), parts[j], thread);
    for (size_t j = 0; j < n; j++) merge(views[j], parts[j]);
  };
  par_for(m.pool, count * pieces, par_grain(m.pool, count * pieces), [&](size_t b, size_t e, unsigned thread) {
    for (size_t n = 0; b < e; b += n) {
      const size_t i = b / pieces, k = b % pieces;
      n = cut ? std::min(e - b, pieces - k) : std::min({e - b, tiles.alike(i), together});
      if (cut)
        some_segments(i, k, k + n, thread);
      else
        whole_tiles(i, n, thread);
    }
  });
  if (fault.any()) fail("an attention score is not finite", fault.token());
  if (value.any()) fail("a value of attention's output is not finite", value.token());
  return apart;
}

}  // namespace nyb
