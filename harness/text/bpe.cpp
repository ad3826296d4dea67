// bpe.cpp - the merges in the order of their rank.
#include "text/bpe.h"

#include <fmt/format.h>

#include "kern/error.h"
#include "text/merge.h"

namespace nyb {
namespace {

constexpr size_t kShortWord = 32;  // below this, looking at every pair each time is faster than a heap

}  // namespace

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
  std::array<uint32_t, kShortWord> next{};  // the rank of id[i] with id[i + 1]
  size_t n = word.size();
  for (size_t i = 0; i < n; ++i) id[i] = byte_ids_[static_cast<unsigned char>(word[i])];
  for (size_t i = 0; i + 1 < n; ++i) next[i] = merges_.rank(id[i], id[i + 1]);
  while (n > 1) {
    size_t best = 0;
    for (size_t i = 1; i + 1 < n; ++i) {
      if (next[i] < next[best]) best = i;
    }
    if (next[best] == kNoRank) break;
    id[best] = merges_.made(next[best]);
    --n;
    for (size_t i = best + 1; i < n; ++i) {
      id[i] = id[i + 1];
      next[i] = next[i + 1];
    }
    if (best > 0) next[best - 1] = merges_.rank(id[best - 1], id[best]);
    if (best + 1 < n) next[best] = merges_.rank(id[best], id[best + 1]);
  }
  out.insert(out.end(), id.begin(), id.begin() + static_cast<std::ptrdiff_t>(n));
}

void Bpe::encode_long(std::string_view word, std::vector<int32_t>& out) const {
  std::vector<int32_t> parts;
  parts.reserve(word.size());
  for (const char c : word) parts.push_back(byte_ids_[static_cast<unsigned char>(c)]);
  merge_neighbours(
      parts, [this](int32_t left, int32_t right) { return merges_.rank(left, right); },
      [this](uint32_t rank, int32_t& left, int32_t) { left = merges_.made(rank); }, [&out](int32_t id) { out.push_back(id); });
}

}  // namespace nyb
