// merge_table.cpp - a hash table of pairs.
#include "text/merge_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string>

namespace nyb {
namespace {

uint64_t pair_of(uint32_t left, uint32_t right) { return uint64_t{left} << 32 | right; }

uint64_t scatter(uint64_t pair) { return (pair ^ pair >> 32) * 0x9e3779b97f4a7c15u; }

}  // namespace

MergeTable::MergeTable(const std::vector<uint32_t>& triples) {
  const size_t count = triples.size() / 3;
  const size_t slots = std::bit_ceil(std::max<size_t>(2 * count, 16));
  table_.resize(slots);
  made_.reserve(count);
  shift_ = 64 - std::countr_zero(slots);
  for (size_t i = 0; i < count; ++i) {
    made_.push_back(static_cast<int32_t>(triples[3 * i + 2]));
    const uint64_t pair = pair_of(triples[3 * i], triples[3 * i + 1]);
    size_t at = scatter(pair) >> shift_;
    while (table_[at].rank != kNoRank && table_[at].pair != pair) at = (at + 1) & (slots - 1);
    table_[at] = {pair, static_cast<uint32_t>(i)};
  }
}

uint32_t MergeTable::rank(int32_t left, int32_t right) const {
  const uint64_t pair = pair_of(static_cast<uint32_t>(left), static_cast<uint32_t>(right));
  for (size_t at = scatter(pair) >> shift_;; at = (at + 1) & (table_.size() - 1)) {
    const Slot& s = table_[at];
    if (s.rank == kNoRank || s.pair == pair) return s.rank;
  }
}

std::vector<uint32_t> read_merges(const Meta& meta, const Vocab& vocab, const std::function<bool(size_t)>& text_may_become) {
  const auto& tokens = vocab.tokens;
  const auto& all = meta.get<std::vector<uint32_t>>(key::tok_merges);
  if (all.size() % 3 != 0) key_fails(key::tok_merges, fmt::format("has {} numbers, not a multiple of three", all.size()));
  std::vector<uint32_t> merges;
  merges.reserve(all.size());
  for (size_t i = 0; i < all.size(); i += 3) {
    bool wanted = true;
    for (size_t k = i; k < i + 3; ++k) {
      key_id(key::tok_merges, all[k], tokens.size());
      wanted = wanted && text_may_become(all[k]);
    }
    if (!wanted) continue;
    const std::string &left = tokens[all[i]], &right = tokens[all[i + 1]], &result = tokens[all[i + 2]];
    if (left.empty() || right.empty() || result.size() != left.size() + right.size() || !result.starts_with(left) ||
        !result.ends_with(right)) {
      key_fails(key::tok_merges,
                fmt::format("makes token {} of {} and {}, whose bytes are others", all[i + 2], all[i], all[i + 1]));
    }
    merges.insert(merges.end(), {all[i], all[i + 1], all[i + 2]});
  }
  return merges;
}

}  // namespace nyb
