// bpe.h - the merges of a byte-level BPE: one word's bytes to its ids.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>
#include "text/merge_table.h"

namespace nyb {

class Bpe {
 public:
  static constexpr size_t max_word = kMaxParts;  // bytes

  // byte_ids: the id of each byte. merges: as MergeTable has them.
  Bpe(const std::array<int32_t, 256>& byte_ids, const std::vector<uint32_t>& merges) : byte_ids_(byte_ids), merges_(merges) {}

  // Appends the ids of `word`: again and again the pair of the lowest rank is merged, the leftmost of equals. O(n log n) time,
  // O(n) memory, constant stack. Throws Error above max_word.
  void encode(std::string_view word, std::vector<int32_t>& out) const;

 private:
  void encode_short(std::string_view word, std::vector<int32_t>& out) const;
  void encode_long(std::string_view word, std::vector<int32_t>& out) const;

  std::array<int32_t, 256> byte_ids_;
  MergeTable merges_;
};

}  // namespace nyb
