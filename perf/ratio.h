// ratio.h - how close the products come to what memory gives: gemv beside a loop that only reads, over the same memory.
#pragma once
#include <cstddef>
#include <optional>
#include "kern/cpu.h"
#include "kern/kern.h"
#include "weights.h"

namespace nyb {

struct RatioOptions {
  size_t mib = 1024;
  unsigned threads = 1;
  unsigned rounds = 7;
  Memory::Pages pages = Memory::Pages::small;  // as a mapped model file has them
  std::optional<Path> path;                    // else every path of this CPU but ref
};

// Prints a line for each path (with a product of its own) and type: GB/s of the fastest read loop and of gemv, and the median of
// the rounds' ratios. Reads and products take turns over slices of the same memory. Throws Error where a path's products differ
// from the reference's, or a read loop left something out.
void run_ratio(const CpuFeatures& cpu, const RatioOptions& options);

}  // namespace nyb
