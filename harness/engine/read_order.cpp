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
// Between this and its inverse it is looked at again: what else the machine does may have slowed all of a look.
constexpr double kClear = 0.9;
constexpr int kLooks = 3;

// Panels of a layer's gate and the same of its up.
struct Pair {
  const LayerTensors* layer;
  size_t from, to;
};

bool twins(const LayerTensors& t) {
  return takes_groups(t.gate->type) && t.gate->type == t.up->type && t.gate->rows == t.up->rows && t.gate->cols == t.up->cols;
}

std::vector<Pair> pairs_of(const Model& m) {
  const size_t each = std::max<size_t>(1, kPairs / m.layers.size());  // of a layer
  std::vector<Pair> pairs;
  for (const LayerTensors& t : m.layers) {
    if (!twins(t)) continue;
    const size_t panel = panel_bytes(t.gate->type, t.gate->cols), panels = panels_of(t.gate->rows);
    const size_t slice = std::clamp<size_t>(kSliceBytes / panel, 1, panels);
    if (slice * panel < kLeastBytes) continue;
    for (size_t i = 0; i < each && (i + 1) * slice <= panels && pairs.size() < kPairs; i++)
      pairs.push_back({&t, i * slice, (i + 1) * slice});
  }
  return pairs;
}

// Pages known to this process, lines in no cache.
void make_cold(const Tensor& w, const Pair& p) {
  const volatile uint8_t* const end = w.panel(p.to);
  for (const volatile uint8_t* at = w.panel(p.from); at < end; at += 4096) static_cast<void>(*at);
  for (const uint8_t* at = w.panel(p.from); at < end; at += 64) _mm_clflush(at);
}

// Seconds a byte of the weights
double cost(const KernTable& kern, const Tensor& w, const Pair& p) {
  const std::vector<QxGroup> x(groups_of(w.cols));
  std::vector<float> y((p.to - p.from) * kPanelRows);
  const Clock::time_point start = Clock::now();
  mat_panels(kern, w, p.from, p.to, {nullptr, 0, x.data(), 0}, 1, y.data(), 0);
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return seconds / static_cast<double>((p.to - p.from) * panel_bytes(w.type, w.cols));
}

// The least quarter's end: what else runs on the machine makes a cost greater, never less.
double quick(std::vector<double> costs) {
  const auto quarter = static_cast<std::ptrdiff_t>(costs.size() / 4);
  std::nth_element(costs.begin(), costs.begin() + quarter, costs.end());
  return costs[static_cast<size_t>(quarter)];
}

}  // namespace

std::vector<KernTable> read_orders(const KernTable& kern, TType type) {
  if (kern.path == Path::ref || !takes_groups(type)) return {kern};
  return {kern, pages_order(kern)};
}

double pages_ratio(const std::function<void(OrderCosts&)>& look) {
  OrderCosts all;
  double ratio = 1;
  for (int i = 0; i < kLooks && ratio > kClear && ratio < 1 / kClear; i++) {
    look(all);
    ratio = quick(all.by_pages) / quick(all.in_order);
  }
  return ratio;
}

ReadOrder read_order(const KernTable& kern, const Model& m) {
  if (kern.path == Path::ref) return {kern};
  std::vector<Pair> pairs = pairs_of(m);
  if (pairs.size() < kLeastPairs) return {kern};
  const KernTable pages = pages_order(kern);
  const MxcsrScope scope;
  const double ratio = pages_ratio([&](OrderCosts& costs) {
    // All of them first: when the first is timed, the translations of its pages have been forgotten again, as in a real pass.
    const Clock::time_point start = Clock::now();
    for (size_t i = 0; i < pairs.size(); i++) {
      make_cold(*pairs[i].layer->gate, pairs[i]);
      make_cold(*pairs[i].layer->up, pairs[i]);
      if (i + 1 >= kLeastPairs && Clock::now() - start > kBudget) pairs.resize(i + 1);
    }
    _mm_mfence();
    for (const Pair& p : pairs) {
      const bool swap = costs.in_order.size() % 2;  // the twins change places
      costs.by_pages.push_back(cost(pages, swap ? *p.layer->gate : *p.layer->up, p));
      costs.in_order.push_back(cost(kern, swap ? *p.layer->up : *p.layer->gate, p));
    }
  });
  return ratio < kAhead ? ReadOrder{pages, 1 / ratio} : ReadOrder{kern, ratio};
}

std::string read_order_told(const ReadOrder& o) {
  if (o.other == 0) return {};
  return fmt::format("weights read {}, {} takes {:.2f} times as long", o.table.pages ? "by pages" : "in order",
                     o.table.pages ? "in order" : "by pages", o.other);
}

}  // namespace nyb
