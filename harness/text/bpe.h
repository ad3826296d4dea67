// bpe.h - the merges of a byte-level BPE: one word's bytes to its ids.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>
#include "text/merge.h"

namespace nyb {

class Bpe {
 public:
  static constexpr size_t max_word = kMaxParts;  // bytes

  // byte_ids: the id of each byte. merges: triples left, right, result, best first; of two entries for the same pair the
  // later one counts, as in the reference implementations.
  Bpe(const std::array<int32_t, 256>& byte_ids, const std::vector<uint32_t>& merges);

  // Appends the ids of `word`: again and again the pair of the lowest rank is merged, the leftmost of equals. O(n log n) time,
  // O(n) memory, constant stack. Throws Error above max_word.
  void encode(std::string_view word, std::vector<int32_t>& out) const;

 private:
  struct Slot {
    uint64_t pair = 0;        // left << 32 | right
    uint32_t rank = kNoRank;  // kNoRank: free
  };

  const Slot* find(int32_t left, int32_t right) const;  // nullptr: these two do not merge
  void encode_short(std::string_view word, std::vector<int32_t>& out) const;
  void encode_long(std::string_view word, std::vector<int32_t>& out) const;

  std::array<int32_t, 256> byte_ids_;
  std::vector<int32_t> merges_;  // what each makes, by rank
  std::vector<Slot> table_;      // open addressing, a power of two, at most half full
  int shift_ = 0;
};

}  // namespace nyb
