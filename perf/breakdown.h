// breakdown.h - where the time of a token goes, stage by stage, and what of it is the arithmetic of the products.
#pragma once
#include <string>
#include <string_view>
#include <vector>
#include "sweep.h"

namespace nyb {

// Times are a token's, in seconds, as the thread sees them that calls eng_step.
struct BreakdownPart {
  std::string_view name;
  double seconds = 0;  // its own work
  double waited = 0;   // what it handed out and waited for beyond that; all parts' together are the part kWaiting
  double bytes = 0;    // weights, or keys and values, that it reads; 0: not counted
  double macs = 0;     // multiplications of the products
  double loads = 0;    // what the loads of its products take alone, the median of all steps; 0: no product, or no AVX2
  // Of the time with waiting what is more than the loads take; the median of all steps, each followed by loads of its own. Below 0
  // where the loads took longer.
  double arithmetic = 0;
  std::vector<double> samples;  // seconds + waited of each step

  double all() const { return seconds + waited; }
  double gbs() const { return all() > 0 ? bytes / all() * 1e-9 : 0; }
  double loads_gbs() const { return loads > 0 ? bytes / loads * 1e-9 : 0; }
  double gmacs() const { return all() > 0 ? macs / all() * 1e-9 : 0; }
};

inline constexpr std::string_view kWaiting = "fork, join, waiting", kOther = "other";

// Means of the steps whose whole time is in the middle half of all repetitions' (a step: a token, or a prompt).
struct BreakdownRow {
  SweepRow row;                      // what was run; its samples are tokens a second, of each repetition
  double whole = 0;                  // of a token: the step, and the choice of the next one
  std::vector<BreakdownPart> parts;  // the sum of their seconds is the whole; the last is kOther, what no stage counts
};

struct Breakdown {
  std::vector<BreakdownRow> rows;
  std::vector<std::string> missing;  // as a sweep's
};

// Each row of the sweep's plan, taken apart. After each token (and each chunk of a prompt) the matrices are gone through once more,
// in the same pieces, by loops that only load. Throws what run_sweep throws, and Error where such a loop left something out;
// Interrupted.
Breakdown run_breakdown(const CpuFeatures& cpu, const SweepOptions& o, const TableOf& table = kern_table);

}  // namespace nyb
