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
  const bool apart = tiles.apart(dim);
  Fault fault, value;

  // Segments k..end-1 of a tile; whoever does the last of them puts them all together.
  const auto attend = [&](size_t i, size_t k, size_t end, unsigned thread) {
    const AttnTile tile = tiles[i];
    const AttnView view = view_of(layer, tile);
    AttnWork::Scratch& scratch = m.attn.scratch[thread];
    AttnWork::Parts& parts = m.attn.parts[cut ? i : thread];
    const size_t whole =
        m.cache.arrange(m.kern, m.q[tile.token] + tile.head * dim, m.q.stride(), tile.heads, tile.tokens, scratch.bytes.data());
    if (whole < tile.tokens) fault.mark(tile.token + whole);
    for (; k < std::min(end, view.segments()); k++) {
      const size_t bad = attend_segment(m.kern, m.cache, view, k, scratch, parts, m.attn.segments);
      if (bad < tile.tokens) fault.mark(tile.token + bad);
    }
    return view;
  };
  const auto merge = [&](const AttnView& view, AttnWork::Parts& parts) {
    for (size_t q = 0; q < view.tile.queries(); q++) {
      const size_t token = view.tile.token + q / view.tile.heads, head = view.tile.head + q % view.tile.heads;
      attend_merge(m.kern, m.cache, view, q, parts, m.attn.segments, m.att[token] + head * dim);
    }
    const size_t from = view.tile.head * dim, end = view.tile.token + view.tile.tokens;
    for (size_t t = view.tile.token; apart && t < end; t++)
      if (!prepare(m.att[t] + from, m.wide[t] + from / kGroup, view.tile.heads * dim, groups)) value.mark(t);
  };
  par_for(m.pool, count * pieces, par_grain(m.pool, count * pieces), [&](size_t b, size_t e, unsigned thread) {
    while (b < e) {
      const size_t i = b / pieces, k = b % pieces, n = std::min(e - b, pieces - k);
      const AttnView view = attend(i, k, cut ? k + n : SIZE_MAX, thread);
      // acquire and release: the last one sees what the others wrote
      if (!cut || m.attn.missing[i].fetch_sub(n, std::memory_order_acq_rel) == n) merge(view, m.attn.parts[cut ? i : thread]);
      b += n;
    }
  });
  if (fault.any()) fail("an attention score is not finite", fault.token());
  if (value.any()) fail("a value of attention's output is not finite", value.token());
  return apart;
}

}  // namespace nyb
