// attention.h - what queries see of the positions before them (docs/numerics.md, "Attention").
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/buffer.h"
#include "engine/kv_cache.h"
#include "kern/kern.h"

namespace nyb {

inline constexpr size_t kSegment = 256;    // absolute positions; fixed by the numerics, and a row of the kernels' scores
inline constexpr size_t kMostQueries = 8;  // that the kernels take at once
// Tiles of a prompt that a thread takes through the segments together: what it reads of the cache, a quarter of a megabyte where
// heads have 128 floats, is in the second cache for all but the first. Many threads have few tiles each, and parts take memory.
inline constexpr size_t kTogether = 4;
constexpr size_t tiles_together(size_t threads) { return threads <= 16 ? kTogether : 2; }
static_assert(tiles_together(1) >= 2 && tiles_together(SIZE_MAX) >= 2, "AttnWork::cut counts on parts for two tiles a thread");

// Queries that look at the same keys together: heads head..head+heads-1, which share a KV head, of tokens token..token+tokens-1.
struct AttnTile {
  size_t head, heads, token, tokens;
  size_t queries() const { return heads * tokens; }  // at most kMostQueries; in the order [token][head]
};

// A chunk's queries cut into tiles, those of one KV head one after the other.
class AttnTiles {
 public:
  AttnTiles(const ModelShape& shape, size_t tokens);
  size_t count() const;
  // Whether no group of 32 outputs, heads one after the other, belongs to two tiles.
  bool apart(size_t head_dim) const { return group_ * head_dim % kGroup == 0 && heads_ * head_dim % kGroup == 0; }
  AttnTile operator[](size_t i) const;
  size_t alike(size_t i) const;  // tiles from i on that look at the same keys

 private:
  size_t group_, heads_, parts_;  // heads that share keys; of them in a tile; tiles that they make
  size_t tokens_, per_tile_, kv_heads_;
};

// Where a tile looks. Token i of it sees positions first[i]..end[i]-1, at least one; neither is less than token i - 1's.
struct AttnView {
  size_t layer, kv_head;
  AttnTile tile;
  float scale;
  size_t first[kMostQueries], end[kMostQueries];
  size_t base() const { return first[0] / kSegment; }  // segments are counted from this one
  size_t segments() const { return (end[tile.tokens - 1] - 1) / kSegment + 1 - base(); }
};

// Memory that attention works in.
class AttnWork {
 public:
  // Scratch of one thread.
  struct Scratch {
    Buffer<float> scores;                // [kMostQueries][kSegment]
    Buffer<uint8_t> queries[kTogether];  // kv_scratch_bytes: a tile's as KvCache::arrange makes them; the first for KvCache::store
  };
  // What the segments of one tile gave.
  struct Parts {
    Buffer<float> ml;     // [kMostQueries][segments][2]: maximum and sum
    Buffer<float> mixed;  // [segments][the tile's queries][width of a row of values]
  };

  // For contexts of ctx positions. Throws Error when there is no memory.
  AttnWork(const ModelShape& shape, uint32_t ctx, KvType type, unsigned threads);
  static size_t bytes_for(const ModelShape& shape, uint32_t ctx, KvType type, unsigned threads);  // of one made so
  size_t bytes() const;

  // Whether `tiles` tiles are cut into their segments, so that all threads have work: where there are fewer than two a thread.
  bool cut(size_t tiles) const { return scratch.size() > 1 && tiles < 2 * scratch.size(); }

  std::vector<Scratch> scratch;              // one a thread
  std::vector<Parts> parts;                  // tiles_together a thread; of tiles that are cut one a tile
  std::vector<std::atomic<size_t>> missing;  // segments of a tile that are cut out and not done
  size_t segments;                           // of the longest context
};

// Segment k of the view for all its queries, as KvCache::arrange has made them; scores: of a Scratch. The first token of the tile
// that has a score that is not finite; tile.tokens: there is none.
size_t attend_segment(const KernTable& kern, const KvCache& cache, const AttnView& view, size_t k, const uint8_t* queries,
                      float* scores, AttnWork::Parts& parts, size_t most_segments);
// All segments of one query of the view, 0 to tile.queries() - 1, into out[head_dim].
void attend_merge(const KernTable& kern, const KvCache& cache, const AttnView& view, size_t query, AttnWork::Parts& parts,
                  size_t most_segments, float* out);

}  // namespace nyb
