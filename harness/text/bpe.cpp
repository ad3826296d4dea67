// bpe.cpp - the merges in the order of their rank.
#include "text/bpe.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "kern/error.h"
#include "text/merge.h"

namespace nyb {
namespace {

constexpr size_t kShortWord = 32;  // below this, looking at every pair each time is faster than a heap

uint64_t pair_of(uint32_t left, uint32_t right) { return uint64_t{left} << 32 | right; }

uint64_t scatter(uint64_t pair) { return (pair ^ pair >> 32) * 0x9e3779b97f4a7c15u; }

}  // namespace

Bpe::Bpe(const std::array<int32_t, 256>& byte_ids, const std::vector<uint32_t>& merges) : byte_ids_(byte_ids) {
  const size_t count = merges.size() / 3;
  const size_t slots = std::bit_ceil(std::max<size_t>(2 * count, 16));
  table_.resize(slots);
  merges_.reserve(count);
  shift_ = 64 - std::countr_zero(slots);
  for (size_t i = 0; i < count; ++i) {
    merges_.push_back(static_cast<int32_t>(merges[3 * i + 2]));
    const uint64_t pair = pair_of(merges[3 * i], merges[3 * i + 1]);
    size_t at = scatter(pair) >> shift_;
    while (table_[at].rank != kNoRank && table_[at].pair != pair) at = (at + 1) & (slots - 1);
    table_[at] = {pair, static_cast<uint32_t>(i)};
  }
}

const Bpe::Slot* Bpe::find(int32_t left, int32_t right) const {
  const uint64_t pair = pair_of(static_cast<uint32_t>(left), static_cast<uint32_t>(right));
  for (size_t at = scatter(pair) >> shift_;; at = (at + 1) & (table_.size() - 1)) {
    const Slot& s = table_[at];
    if (s.rank == kNoRank) return nullptr;
    if (s.pair == pair) return &s;
  }
}

void Bpe::encode(std::string_view word, std::vector<int32_t>& out) const {
  if (word.size() > max_word)
    throw Error(fmt::format("a word of {} bytes in the text is longer than the {} that can be tokenized", word.size(), max_word));
  if (word.size() < kShortWord) {
    encode_short(word, out);
  } else {
    encode_long(word, out);
  }
}

void Bpe::encode_short(std::string_view word, std::vector<int32_t>& out) const {
  std::array<int32_t, kShortWord> id{};
  std::array<const Slot*, kShortWord> next{};  // the merge of id[i] with id[i + 1]
  size_t n = word.size();
  for (size_t i = 0; i < n; ++i) id[i] = byte_ids_[static_cast<unsigned char>(word[i])];
  for (size_t i = 0; i + 1 < n; ++i) next[i] = find(id[i], id[i + 1]);
  while (n > 1) {
    size_t best = n;
    for (size_t i = 0; i + 1 < n; ++i) {
      if (next[i] && (best == n || next[i]->rank < next[best]->rank)) best = i;
    }
    if (best == n) break;
    id[best] = merges_[next[best]->rank];
    --n;
    for (size_t i = best + 1; i < n; ++i) {
      id[i] = id[i + 1];
      next[i] = next[i + 1];
    }
    if (best > 0) next[best - 1] = find(id[best - 1], id[best]);
    if (best + 1 < n) next[best] = find(id[best], id[best + 1]);
  }
  out.insert(out.end(), id.begin(), id.begin() + static_cast<std::ptrdiff_t>(n));
}

void Bpe::encode_long(std::string_view word, std::vector<int32_t>& out) const {
  std::vector<int32_t> parts;
  parts.reserve(word.size());
  for (const char c : word) parts.push_back(byte_ids_[static_cast<unsigned char>(c)]);
  merge_neighbours(
      parts,
      [this](int32_t left, int32_t right) {
        const Slot* s = find(left, right);
        return s ? s->rank : kNoRank;
      },
      [this](uint32_t rank, int32_t& left, int32_t) { left = merges_[rank]; }, [&out](int32_t id) { out.push_back(id); });
}

}  // namespace nyb
