// merge_table.h - the merges of a BPE: which two tokens make which, and what goes first.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>
#include "model/meta.h"
#include "text/merge.h"
#include "text/text_model.h"

namespace nyb {

class MergeTable {
 public:
  // Triples left, right, result, best first; of two entries for the same pair the later one counts, as in the reference
  // implementations.
  explicit MergeTable(const std::vector<uint32_t>& triples);

  uint32_t rank(int32_t left, int32_t right) const;  // kNoRank: these two do not merge
  int32_t made(uint32_t rank) const { return made_[rank]; }

 private:
  struct Slot {
    uint64_t pair = 0;        // left << 32 | right
    uint32_t rank = kNoRank;  // kNoRank: free
  };
  std::vector<int32_t> made_;  // by rank
  std::vector<Slot> table_;    // open addressing, a power of two, at most half full
  int shift_ = 0;
};

// The triples of tok.merges, without those in which `text_may_become(id)` does not hold for all three. Throws Error naming the key:
// ids beyond the vocabulary, a result whose bytes are not those of its parts.
std::vector<uint32_t> read_merges(const Meta& meta, const Vocab& vocab, const std::function<bool(size_t)>& text_may_become);

}  // namespace nyb
