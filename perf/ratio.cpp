// ratio.cpp - gemv against a loop that only reads, interleaved over the same memory.
#include "ratio.h"
#include <fmt/format.h>
#include <algorithm>
#include <cstring>
#include <vector>
#include "common/app.h"
#include "engine/pool.h"
#include "engine/read_order.h"
#include "huge.h"
#include "kern/cpu.h"
#include "kern/error.h"
#include "paths.h"
#include "probe/last_cache.h"
#include "probe/probe.h"
#include "timed.h"

namespace nyb {
namespace {

constexpr size_t kCols = 4096;  // sixteen rows are then a multiple of 512 bytes in every type, which the read loops want
constexpr size_t kSliceBytes = size_t{16} << 20;  // about half a millisecond: less than a turn of the scheduler

// Matrices in memory, each a slice, and both ways of going through them, with all threads in the same pieces. The loop reads
// the panels; the scales of rows that follow them in q8 are a thousandth of it.
class Bench {
 public:
  Bench(const Memory& memory, TType type, Pool& pool, Vectors& vectors)
      : type_(type),
        pool_(pool),
        vectors_(vectors),
        panel_bytes_(panel_bytes(type, kCols)),
        slice_panels_(kSliceBytes / panel_bytes_) {
    const size_t rows = slice_panels_ * kPanelRows, bytes = weight_bytes(type, rows, kCols);
    for (size_t at = 0; at + bytes <= memory.size(); at += bytes)
      slices_.push_back(random_matrix(type, rows, kCols, memory.data() + at, at));
  }

  size_t slices() const { return slices_.size(); }
  double slice_gb() const { return 1e-9 * static_cast<double>(slice_panels_ * panel_bytes_); }

  void product(const KernTable& k, size_t slice) {
    par_for(pool_, slice_panels_, grain(k.panels_together()), [&](size_t first, size_t end, unsigned) {
      mat_panels(k, slices_[slice], first, end, vectors_.in(), 1, vectors_.y.data() + kPanelRows * first, 0);
    });
  }

  uint64_t read(const ReadLoop& loop, size_t slice) {
    std::vector<uint64_t> parts(pool_.threads());
    par_for(pool_, slice_panels_, grain(1), [&](size_t first, size_t end, unsigned thread) {
      parts[thread] ^= loop.run(slices_[slice].panel(first), (end - first) * panel_bytes_);
    });
    uint64_t all = 0;
    for (const uint64_t part : parts) all ^= part;
    return all;
  }

  // A loop that leaves nothing out, and products that are the reference's, bit for bit
  void check_loops(const std::vector<ReadLoop>& loops) {
    for (size_t slice = 0; slice < slices(); slice += std::max<size_t>(1, slices() / 8)) {
      uint64_t expected = 0;
      for (size_t at = 0; at < slice_panels_ * panel_bytes_; at += 8) {
        uint64_t word = 0;
        std::memcpy(&word, slices_[slice].panel(0) + at, 8);
        expected ^= word;
      }
      for (const ReadLoop& loop : loops)
        if (read(loop, slice) != expected) throw Error(fmt::format("the read loop '{}' did not read all of the memory", loop.name));
    }
  }
  // All of a slice, in the pieces that are timed
  void check_product(const KernTable& k) {
    const size_t rows = kPanelRows * slice_panels_;
    if (expected_.empty()) {
      product(kern_table(Path::ref), 0);
      expected_.assign(vectors_.y.data(), vectors_.y.data() + rows);
    }
    std::fill_n(vectors_.y.data(), vectors_.y.size(), 0.0f);
    product(k, 0);
    if (std::memcmp(expected_.data(), vectors_.y.data(), rows * sizeof(float)) != 0)
      throw Error(fmt::format("gemv_{} of the path {}, {}, differs from the reference: it is not worth timing", ttype_name(type_),
                              path_name(k.path), order_name(k.order)));
  }

 private:
  size_t grain(size_t together) const {
    return std::max<size_t>(1, slice_panels_ / (size_t{4} * pool_.threads()) / together) * together;
  }

  TType type_;
  Pool& pool_;
  Vectors& vectors_;
  size_t panel_bytes_, slice_panels_;
  std::vector<Tensor> slices_;
  std::vector<float> expected_;  // of slice 0, once it has been asked for
};

struct Round {
  double read, product, ratio;  // GB/s, GB/s, product / read
};

// A round is one way through the memory: a slice read, then a product of a slice half the memory away (so neither finds in a
// cache what the other brought), and so on. Each of its numbers is the median over the slices, so that what else runs on the
// machine, which stops either for a while, does not show.
Round one_round(Bench& bench, const KernTable& k, const ReadLoop& loop) {
  const double gb = bench.slice_gb();
  std::vector<double> reads, products, ratios;
  for (size_t i = 0; i < bench.slices(); ++i) {
    if (interrupted()) throw Interrupted{};
    reads.push_back(gb / seconds_of([&] { bench.read(loop, i); }));
    products.push_back(gb / seconds_of([&] { bench.product(k, (i + bench.slices() / 2) % bench.slices()); }));
    ratios.push_back(products.back() / reads.back());
  }
  return {median(reads), median(products), median(ratios)};
}

// The rounds of the loop with the greatest median.
RatioRow measure(Bench& bench, const KernTable& k, TType type, const std::vector<ReadLoop>& loops, unsigned rounds) {
  std::vector<RatioRow> rows;
  rows.reserve(loops.size());
  for (const ReadLoop& loop : loops) rows.push_back({k.path, k.order, type, loop.name, {}, {}, {}});
  for (unsigned round = 0; round < rounds; ++round)
    for (size_t i = 0; i < loops.size(); ++i) {
      const Round r = one_round(bench, k, loops[i]);
      rows[i].read.push_back(r.read);
      rows[i].product.push_back(r.product);
      rows[i].ratios.push_back(r.ratio);
    }
  return *std::max_element(rows.begin(), rows.end(),
                           [](const RatioRow& a, const RatioRow& b) { return median(a.read) < median(b.read); });
}

}  // namespace

std::vector<RatioRow> run_ratio(const CpuFeatures& cpu, const RatioOptions& options, std::vector<std::string>& notes,
                                const std::function<void(const RatioRow&)>& told, const TableOf& table) {
  const std::vector<ReadLoop> loops = read_loops(cpu);
  if (loops.empty())
    throw Error(
        fmt::format("this CPU lacks {}, so there is neither a kernel to measure nor a read loop", cpu_missing(cpu, Path::avx2)));
  const std::vector<Path> paths = measured_paths(cpu, options.path ? std::vector<Path>{*options.path} : std::vector<Path>{}, notes);
  const bool huge = options.pages == Memory::Pages::huge;
  if (huge) huge_pages_needed("--huge");
  const Memory memory(options.mib << 20, options.pages);
  Vectors vectors(kCols, kSliceBytes / panel_bytes(TType::q4, kCols) * kPanelRows);
  Pool pool(options.threads);
  notes.push_back(fmt::format("{} MiB of random weights in anonymous memory, {} pages, {} columns, {} thread{}, {} rounds",
                              options.mib, huge ? "huge" : "4 KiB", kCols, options.threads, options.threads == 1 ? "" : "s",
                              options.rounds));
  if (const size_t cache = last_cache().all; memory.size() < 4 * cache)
    notes.push_back(
        fmt::format("note: the last cache holds {} MiB, so memory alone is measured from {} MiB on", cache >> 20, cache >> 18));
  std::vector<RatioRow> rows;
  for (const TType type : kMatrixTypes) {
    Bench bench(memory, type, pool, vectors);
    bench.check_loops(loops);
    if (huge && rows.empty()) note_huge("the memory of the weights", {memory.data(), memory.size()}, notes);
    for (const Path p : paths) {
      if (!options.path && !own_body(gemv_name(type), p)) continue;
      for (const KernTable& k : read_orders(table(p), type)) {
        bench.check_product(k);
        rows.push_back(measure(bench, k, type, loops, options.rounds));
        if (told) told(rows.back());
      }
    }
  }
  return rows;
}

}  // namespace nyb
