// merge.h - neighbours merged in the order of their rank.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

namespace nyb {

inline constexpr uint32_t kNoRank = 0xffffffff;
inline constexpr size_t kMaxParts = size_t{1} << 30;  // positions are 32 bits wide

// Again and again the two neighbours of the lowest rank are merged, the leftmost of equals, until none merge; then
// `out(part)` gets what is left, in order. `rank(a, b)` is that of two neighbours, or kNoRank where they do not merge;
// `join(rank, a, b)` makes `a` both. O(n log n) time, O(n) memory, constant stack; at most kMaxParts parts.
template <class Part, class Rank, class Join, class Out>
void merge_neighbours(const std::vector<Part>& parts, Rank&& rank, Join&& join, Out&& out) {
  struct Node {
    Part part;
    uint32_t rank;           // with the one after it
    uint32_t before, after;  // neighbours; `end` at the ends
  };
  constexpr uint32_t end = 0xffffffff;
  const auto n = static_cast<uint32_t>(parts.size());
  std::vector<Node> node(n);
  for (uint32_t i = 0; i < n; ++i) node[i] = {parts[i], kNoRank, i == 0 ? end : i - 1, i + 1 == n ? end : i + 1};
  // What may be merged, as rank << 32 | position: the least is next. Those known at the beginning are sorted once; only what
  // merges bring up goes through the heap.
  std::vector<uint64_t> first;
  first.reserve(n);
  std::priority_queue<uint64_t, std::vector<uint64_t>, std::greater<>> later;
  const auto candidate = [&](uint32_t i, auto&& take) {
    const uint32_t j = node[i].after;
    node[i].rank = j == end ? kNoRank : rank(node[i].part, node[j].part);
    if (node[i].rank != kNoRank) take(uint64_t{node[i].rank} << 32 | i);
  };
  for (uint32_t i = 0; i < n; ++i) candidate(i, [&](uint64_t c) { first.push_back(c); });
  std::sort(first.begin(), first.end());
  for (size_t at = 0; at < first.size() || !later.empty();) {
    uint64_t c = 0;
    if (at < first.size() && (later.empty() || first[at] < later.top())) {
      c = first[at++];
    } else {
      c = later.top();
      later.pop();
    }
    const auto i = static_cast<uint32_t>(c);
    if (node[i].rank != c >> 32) continue;  // either has been merged since
    const uint32_t j = node[i].after;
    join(node[i].rank, node[i].part, node[j].part);
    node[i].after = node[j].after;
    node[j].rank = kNoRank;
    const auto push = [&](uint64_t next) { later.push(next); };
    if (node[i].after != end) node[node[i].after].before = i;
    if (node[i].before != end) candidate(node[i].before, push);
    candidate(i, push);
  }
  for (uint32_t i = n == 0 ? end : 0; i != end; i = node[i].after) out(node[i].part);
}

}  // namespace nyb
