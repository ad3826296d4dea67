// read_plain.cpp - the read loop as a compiler makes it, with all that it does unasked (-O3): what the other loops have to stand
// beside.
#include "probe/read_loops.h"

namespace nyb {

uint64_t read_plain(const void* p, size_t bytes) {
  const auto* w = static_cast<const uint64_t*>(p);
  constexpr size_t words = 16;  // a step: enough loads in flight
  uint64_t sum[words] = {};
  for (size_t i = 0; i + words <= bytes / 8; i += words)
    for (size_t k = 0; k < words; ++k) sum[k] ^= w[i + k];
  uint64_t all = 0;
  for (const uint64_t s : sum) all ^= s;
  return all;
}

}  // namespace nyb
