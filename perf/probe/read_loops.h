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

uint64_t read_plain(const void* p, size_t bytes);  // the same in C++

// Those that this CPU can run. Empty: none.
std::vector<ReadLoop> read_loops(const CpuFeatures& cpu);

}  // namespace nyb
