// read_loops.h - loops that only read memory, in several shapes: what gemv is measured against.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>
#include "kern/cpu.h"

namespace nyb {

// Returns the exclusive or of all 64-bit words of p[bytes]; bytes a multiple of 512, any alignment.
struct ReadLoop {
  const char* name;
  uint64_t (*run)(const void* p, size_t bytes);
};

// Those that this CPU can run. Empty: none. The last three are the widest with prefetches, in order and by pages, and the widest of
// several streams.
std::vector<ReadLoop> read_loops(const CpuFeatures& cpu);

// The same in plain C++: one stream, compiled for the widest vectors that the CPU has, and by pages; six, for SSE2 and for AVX2
// where it is there (in six streams width is no gain).
std::vector<ReadLoop> plain_loops(const CpuFeatures& cpu);

}  // namespace nyb
