// compare.h - two saved sweeps, row by row.
#pragma once
#include <string>
#include <vector>
#include "interval.h"
#include "sweep_read.h"
#include "sweep_report.h"

namespace nyb {

struct ComparedRow {
  SweepRow old, now;
  RatioInterval ratio;  // of the speeds, now / old
};

struct Comparison {
  Machine old_machine, machine;
  std::vector<ComparedRow> rows;
  std::vector<SweepRow> only_old, only_new;
  std::vector<std::string> warnings;  // what else than the program may have made a difference
};

constexpr double kSameBandwidth = 0.05;  // read bandwidths further apart are warned of

// Rows belong together whose settings are equal: model and its size, type, memory, path, threads, cache, chunk, test. Of several
// equal ones in a file the first belongs to the first of the other.
Comparison compare(const SavedSweep& old, const SavedSweep& now);

// "126m q8, avx2, 2 threads, tg64", with what else tells it from other rows: "f16 cache", "chunk 64".
std::string row_name(const SweepRow& r);

// md or json. Throws UsageError for another format.
std::string compare_text(const Comparison& c, ReportFormat f);

}  // namespace nyb
