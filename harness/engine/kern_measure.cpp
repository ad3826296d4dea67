// kern_measure.cpp - a few rounds, each path once a round, the least time of each.
#include "engine/kern_measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "engine/matvec.h"
#include "kern/mxcsr.h"
#include "kern/splitmix.h"

namespace nyb {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kBytes = size_t{128} << 10, kTokens = 8;
constexpr int kRounds = 9;
// A path that is ahead by less is not: kern_pick's own order decides then.
constexpr double kAhead = 0.97;

struct Timed {
  const KernTable* table;
  double seconds = 0;  // the least so far; 0: none
};

// The product's input and output, the same for all paths.
struct Work {
  const Tensor& w;
  size_t panels, groups;
  std::vector<float> values, out;
  std::vector<QxGroup> x;

  Work(const Tensor& matrix, const KernTable& kern)
      : w(matrix),
        panels(std::clamp<size_t>(kBytes / panel_bytes(w.type, w.cols), 1, panels_of(w.rows))),
        groups(groups_of(w.cols)),
        values(kTokens * w.cols),
        out(kTokens * panels * kPanelRows),
        x(kTokens * groups) {
    uint64_t state = 1;
    for (float& v : values) v = splitmix_unit(state);
    for (size_t t = 0; t < kTokens; t++) kern.qx_vec(values.data() + t * w.cols, x.data() + t * groups, w.cols);
  }

  double run(const KernTable& kern) {
    const MatIn in{values.data(), w.cols, x.data(), groups};
    const Clock::time_point start = Clock::now();
    mat_panels(kern, w, 0, panels, in, 1, out.data(), 0);
    mat_panels(kern, w, 0, panels, in, kTokens, out.data(), panels * kPanelRows);
    return std::chrono::duration<double>(Clock::now() - start).count();
  }
};

}  // namespace

KernChoice kern_measure(const CpuFeatures& cpu, const Model& m, std::chrono::microseconds budget) {
  KernChoice usual = kern_pick(cpu);
  std::vector<KernTable> tables{usual.table};
  for (const Path p : kAllPaths)
    if (p != Path::ref && p != usual.table.path && cpu_missing(cpu, p).empty()) tables.push_back(kern_table(p));
  return tables.size() == 1 ? usual : kern_fastest(tables, m, budget);
}

KernChoice kern_fastest(std::span<const KernTable> tables, const Model& m, std::chrono::microseconds budget) {
  const MxcsrScope scope;
  const Clock::time_point start = Clock::now();
  Work work(*m.layers.front().gate, tables.front());
  std::vector<Timed> paths;
  for (const KernTable& t : tables) paths.push_back({&t});
  for (Timed& t : paths) work.run(*t.table);  // into the caches, and the clock up
  for (int round = 0; round < kRounds && (round == 0 || Clock::now() - start < budget); round++)
    for (Timed& t : paths) {
      const double s = work.run(*t.table);
      t.seconds = t.seconds > 0 ? std::min(t.seconds, s) : s;
    }

  const Timed* best = &paths.front();
  for (const Timed& t : paths)
    if (t.seconds < best->seconds * (best == &paths.front() ? kAhead : 1)) best = &t;
  std::string others;
  for (const Timed& t : paths)
    if (&t != best)
      others += fmt::format("{}{} takes {:.2f} times as long", others.empty() ? "" : ", ", path_name(t.table->path),
                            t.seconds / best->seconds);
  return {*best->table, "measured: " + others};
}

}  // namespace nyb
