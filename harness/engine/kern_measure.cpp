// kern_measure.cpp - some rounds, each type on each path once a round, the least time of each.
#include "engine/kern_measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "engine/matvec.h"
#include "kern/mxcsr.h"
#include "kern/splitmix.h"

namespace nyb {
namespace {

constexpr size_t kBytes = size_t{128} << 10, kTokens = 8;
constexpr size_t kRounds = 40;
// A path that is ahead by less is not: kern_pick's own order decides then.
constexpr double kAhead = 0.97;

// A slice of a matrix, its input and its output, the same for all paths.
struct Work {
  const Tensor& w;
  double times;  // the slice's bytes would make all that it stands for
  size_t panels, groups;
  std::vector<float> values, out;
  std::vector<QxGroup> x;

  Work(const Tensor& matrix, uint64_t bytes, const KernTable& kern)
      : w(matrix),
        panels(std::clamp<size_t>(kBytes / panel_bytes(w.type, w.cols), 1, panels_of(w.rows))),
        groups(groups_of(w.cols)),
        values(kTokens * w.cols),
        out(kTokens * panels * kPanelRows),
        x(kTokens * groups) {
    times = static_cast<double>(bytes) / static_cast<double>(panels * panel_bytes(w.type, w.cols));
    uint64_t state = 1;
    for (float& v : values) v = splitmix_unit(state);
    for (size_t t = 0; t < kTokens; t++) kern.qx_vec(values.data() + t * w.cols, x.data() + t * groups, w.cols);
  }

  double run(const KernTable& kern, const Seconds& clock) {
    const MatIn in{values.data(), w.cols, x.data(), groups};
    const double start = clock();
    mat_panels(kern, w, 0, panels, in, 1, out.data(), 0);
    mat_panels(kern, w, 0, panels, in, kTokens, out.data(), panels * kPanelRows);
    return clock() - start;
  }
};

// One for each type of which a token reads matrices.
std::vector<Work> works_of(const Model& m, const KernTable& kern) {
  std::vector<Work> works;
  for (const TType type : kMatrixTypes) {
    const Tensor* largest = nullptr;
    uint64_t bytes = 0;
    for (const Tensor& t : m.tensors) {
      if (t.type != type || (&t == m.embed && m.embed != m.head)) continue;  // of an input embedding a token reads one row
      bytes += t.bytes;
      if (!largest || t.bytes > largest->bytes) largest = &t;
    }
    if (largest) works.emplace_back(*largest, bytes, kern);
  }
  return works;
}

}  // namespace

KernChoice kern_measure(const CpuFeatures& cpu, const Model& m) {
  KernChoice usual = kern_pick(cpu);
  std::vector<KernTable> tables{usual.table};
  for (const Path p : kAllPaths)
    if (p != Path::ref && p != usual.table.path && cpu_missing(cpu, p).empty()) tables.push_back(kern_table(p));
  return tables.size() == 1 ? usual : kern_fastest(tables, m, kMeasureBudget);
}

KernChoice kern_fastest(std::span<const KernTable> tables, const Model& m, double budget, const Seconds& clock) {
  const MxcsrScope scope;
  const double start = clock();
  std::vector<Work> works = works_of(m, tables.front());
  const size_t paths = tables.size();
  std::vector<double> least(works.size() * paths);
  // The first round, which does not count, is for the caches and the core's clock. Paths take turns in being first.
  for (size_t round = 0; round <= kRounds && (round < 2 || clock() - start < budget); round++)
    for (size_t i = 0; i < least.size(); i++) {
      const size_t work = i / paths, path = (i + round) % paths;
      const double s = works[work].run(tables[path], clock);
      double& all = least[work * paths + path];
      all = round < 2 ? s : std::min(all, s);
    }

  std::vector<double> seconds(paths);
  for (size_t i = 0; i < least.size(); i++) seconds[i % paths] += least[i] * works[i / paths].times;
  size_t best = 0;
  for (size_t p = 1; p < paths; p++)
    if (seconds[p] < seconds[best] * (best == 0 ? kAhead : 1)) best = p;
  std::string others;
  for (size_t p = 0; p < paths; p++)
    if (p != best)
      others += fmt::format("{}{} takes {:.2f} times as long", others.empty() ? "" : ", ", path_name(tables[p].path),
                            seconds[p] / seconds[best]);
  return {tables[best], "measured on products from cache: " + others};
}

}  // namespace nyb
