// kernel_bench.h - the kernels one by one: every one of the list, on each path with a body of its own, from the caches and from
// memory.
#pragma once
#include <benchmark/benchmark.h>
#include <functional>
#include <memory>
#include <string>
#include <vector>
#include "kern/cpu.h"
#include "kernel_call.h"
#include "mca.h"
#include "sweep.h"

namespace nyb {

// Throws Error naming the path and the kernels whose bytes are not the reference's.
void check_kernels(const std::vector<Path>& paths, const KernelSizes& sizes = usual_sizes(), const TableOf& table = kern_table);

// A benchmark for Google's. Its counters: GB/s; GMAC/s of products and attention; cycles_per_byte and cycles_per_element at the
// clock measured right after; mca_cycles_per_element, and mca_share where the loops asked about are not nearly all of the call.
struct KernelBench {
  std::string name;  // KERNEL/PATH/SHAPE/warm (one set of arrays, which the last cache holds twice over) or .../cold (set after set
                     // through four times the last caches)
  std::function<void(benchmark::State&)> run;
};
using KernelGroup = std::vector<KernelBench>;  // one call on all paths: what is worth comparing, and has the same memory

// Every kernel of the list at these sizes. Adds to `notes` which kernels have no call, or none at such sizes.
std::vector<KernelGroup> kernel_groups(const std::vector<Path>& paths, const KernelSizes& sizes, const std::shared_ptr<Mca>& mca,
                                       std::vector<std::string>& notes, const TableOf& table = kern_table);

}  // namespace nyb
