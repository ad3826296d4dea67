// read_order.cpp - gate and up of a layer have one shape, one type and are equally far from every cache: twins to be compared.
#include "engine/read_order.h"

#include <emmintrin.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "engine/matvec.h"
#include "kern/mxcsr.h"

namespace nyb {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kSliceBytes = size_t{512} << 10, kLeastBytes = size_t{64} << 10;
constexpr size_t kPairs = 16, kLeastPairs = 8;
constexpr std::chrono::milliseconds kBudget{10};  // pages may have to come from a disk
// An order that is ahead by less is not.
constexpr double kAhead = 0.97;

class Work {
 public:
  explicit Work(const Tensor& w) : x_(groups_of(w.cols)), y_(w.rows + kPanelRows) {}

  // Panels [from, to), their pages known to this process, their lines in no cache.
  double seconds(const KernTable& kern, const Tensor& w, size_t from, size_t to) {
    const volatile uint8_t* const end = w.panel(to);
    for (const volatile uint8_t* p = w.panel(from); p < end; p += 4096) static_cast<void>(*p);
    for (const uint8_t* p = w.panel(from); p < end; p += 64) _mm_clflush(p);
    _mm_mfence();
    const Clock::time_point start = Clock::now();
    mat_panels(kern, w, from, to, {nullptr, 0, x_.data(), 0}, 1, y_.data(), 0);
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

 private:
  std::vector<QxGroup> x_;
  std::vector<float> y_;
};

bool twins(const LayerTensors& t) {
  return takes_groups(t.gate->type) && t.gate->type == t.up->type && t.gate->rows == t.up->rows && t.gate->cols == t.up->cols;
}

}  // namespace

ReadOrder read_order(const KernTable& kern, const Model& m) {
  const KernTable pages = pages_order(kern);
  if (kern.path == Path::ref) return {kern};
  const MxcsrScope scope;
  const size_t each = std::max<size_t>(1, kPairs / m.layers.size());  // of a layer
  const Clock::time_point start = Clock::now();
  std::vector<double> ratios;  // by pages to in order
  for (const LayerTensors& t : m.layers) {
    if (!twins(t)) continue;
    const size_t panel = panel_bytes(t.gate->type, t.gate->cols), panels = panels_of(t.gate->rows);
    const size_t slice = std::clamp<size_t>(kSliceBytes / panel, 1, panels);
    if (slice * panel < kLeastBytes) continue;
    Work work(*t.gate);
    for (size_t i = 0; i < each && (i + 1) * slice <= panels && ratios.size() < kPairs; i++) {
      if (ratios.size() >= kLeastPairs && Clock::now() - start > kBudget) break;
      const bool swap = ratios.size() % 2;
      const double a = work.seconds(swap ? pages : kern, *t.gate, i * slice, (i + 1) * slice);
      const double b = work.seconds(swap ? kern : pages, *t.up, i * slice, (i + 1) * slice);
      ratios.push_back(swap ? a / b : b / a);
    }
  }
  if (ratios.size() < kLeastPairs) return {kern};
  std::nth_element(ratios.begin(), ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2), ratios.end());
  const double ratio = ratios[ratios.size() / 2];
  return ratio < kAhead ? ReadOrder{pages, 1 / ratio} : ReadOrder{kern, ratio};
}

std::string read_order_told(const ReadOrder& o) {
  if (o.other == 0) return {};
  return fmt::format("weights read {}, {} takes {:.2f} times as long", o.table.pages ? "by pages" : "in order",
                     o.table.pages ? "in order" : "by pages", o.other);
}

}  // namespace nyb
