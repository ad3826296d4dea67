// kernel_bench.h - the kernels one by one: every one of the list, on each path with a body of its own, from the caches and from
// memory.
#pragma once
#include <memory>
#include <string>
#include <vector>
#include "kern/cpu.h"
#include "mca.h"
#include "sweep.h"

namespace nyb {

// Throws Error naming the path and the kernels whose bytes are not the reference's.
void check_kernels(const std::vector<Path>& paths, const TableOf& table = kern_table);

// Registers KERNEL/PATH/SHAPE/warm (one set of arrays, which the last cache holds twice over) and .../cold (set after set through
// four times the last cache) with Google Benchmark. Their counters: GB/s; GMAC/s of products and attention; cycles_per_byte and
// cycles_per_element at the clock measured right after; mca_cycles_per_element, and mca_share where the loops asked about are not
// nearly all of the call. Returns the kernels of the list that have no call, so that it can be said.
std::vector<std::string> register_kernels(const std::vector<Path>& paths, const std::shared_ptr<Mca>& mca,
                                          const TableOf& table = kern_table);

}  // namespace nyb
