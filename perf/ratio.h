// ratio.h - how close the products come to what memory gives: gemv beside a loop that only reads, over the same memory.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>
#include "kern/cpu.h"
#include "kern/kern.h"
#include "machine.h"
#include "sweep.h"
#include "weights.h"

namespace nyb {

struct RatioOptions {
  size_t mib = 1024;
  unsigned threads = 1;
  unsigned rounds = 7;
  Memory::Pages pages = Memory::Pages::small;  // as a mapped model file has them
  std::optional<Path> path;                    // else every path of this CPU but ref
};

struct RatioRow {
  Path path;
  Order order;
  TType type;
  std::string loop;                           // the read loop with the greatest median
  std::vector<double> read, product, ratios;  // GB/s, GB/s, product / read: a sample a round
};

// A row for each path (with a product of its own), type and order of reading (f32 has one), told as soon as it is there. Reads and
// products take turns over slices of the same memory. Adds to `notes`, before the first row, what cannot be measured or is not as
// it should be. Throws Error where a path's products differ from the reference's, naming it, or a read loop left something out, and
// for huge pages where this process gets none.
std::vector<RatioRow> run_ratio(const CpuFeatures& cpu, const RatioOptions& options, std::vector<std::string>& notes,
                                const std::function<void(const RatioRow&)>& told = {}, const TableOf& table = kern_table);

// The table, line by line, so that it can be followed.
std::string ratio_head(const Machine& m, const std::vector<std::string>& notes);
std::string ratio_line(const RatioRow& r);
std::string ratio_json(const std::vector<RatioRow>& rows, const RatioOptions& o, const std::vector<std::string>& notes,
                       const Machine& m);

}  // namespace nyb
