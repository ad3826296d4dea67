// read_order.cpp - gate and up of a layer have one shape, one type and are equally far from every cache: twins to be compared.
#include "engine/read_order.h"

#include <fmt/format.h>
#include <immintrin.h>

#include <algorithm>
#include <vector>

#include "engine/matvec.h"
#include "kern/cpu.h"
#include "kern/mxcsr.h"

namespace nyb {
namespace {

// Panels as the pool deals them: six, twelve and so on, about as many as kSliceBytes.
constexpr size_t kSliceBytes = size_t{512} << 10, kLeastBytes = size_t{64} << 10;
constexpr size_t kPairs = 16, kLeastPairs = 8;
// Seconds. After kPreparing a look has no more pairs than it must have: pages may have to come from a disk, and a CPU may be slow
// to empty its caches. No look begins that would end after kBudget if it took as long as the last one.
constexpr double kPreparing = 0.004, kBudget = 0.020;
// An order that is ahead by less is not.
constexpr double kAhead = 0.97;
// Where the fastest is not ahead by as much it is looked at again: what else the machine does may have slowed all of a look. It may
// also have slowed one order alone, so one look is never enough.
constexpr double kClear = 0.9;
constexpr int kLeastLooks = 2, kLooks = 8;

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
    const size_t slice = std::max(std::min(kSliceBytes / panel, panels) / kStreams, size_t{1}) * kStreams;
    if (slice > panels || slice * panel < kLeastBytes) continue;
    for (size_t i = 0; i < each && (i + 1) * slice <= panels && pairs.size() < kPairs; i++)
      pairs.push_back({&t, i * slice, (i + 1) * slice});
  }
  return pairs;
}

void flush(const uint8_t* at, const uint8_t* end) {
  for (; at < end; at += 64) _mm_clflush(at);
}
// The same in a fortieth of the time: these don't wait for each other.
__attribute__((target("clflushopt"))) void flush_opt(const uint8_t* at, const uint8_t* end) {
  for (; at < end; at += 64) _mm_clflushopt(const_cast<uint8_t*>(at));
}

// Pages known to this process, lines in no cache after the next fence.
void make_cold(const Tensor& w, const Pair& p) {
  const volatile uint8_t* const end = w.panel(p.to);
  for (const volatile uint8_t* at = w.panel(p.from); at < end; at += 4096) static_cast<void>(*at);
  (cpu_here().clflushopt ? flush_opt : flush)(w.panel(p.from), w.panel(p.to));
}

// Seconds a byte of the weights
double cost(const KernTable& kern, const Tensor& w, const Pair& p, const Seconds& clock) {
  const std::vector<QxGroup> x(groups_of(w.cols));
  std::vector<float> y((p.to - p.from) * kPanelRows);
  const double start = clock();
  mat_panels(kern, w, p.from, p.to, {nullptr, 0, x.data(), 0}, 1, y.data(), 0);
  return (clock() - start) / static_cast<double>((p.to - p.from) * panel_bytes(w.type, w.cols));
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
  std::vector<KernTable> all;
  for (const Order o : kAllOrders) all.push_back(with_order(kern, o));
  return all;
}

ByOrder<double> order_times(const std::function<void(ByOrder<std::vector<double>>&)>& look, const Seconds& clock) {
  ByOrder<std::vector<double>> all;
  ByOrder<double> times{};
  const double start = clock();
  // whether all others take clearly longer than the fastest
  const auto clear = [&] {
    const double least = *std::min_element(times.begin(), times.end());
    return std::count_if(times.begin(), times.end(), [&](double t) { return t * kClear < least; }) == 1;
  };
  double last = 0;
  for (int i = 0; i < kLooks && (i < kLeastLooks || !clear()); i++) {
    const double begin = clock();
    if (begin - start + last > kBudget) break;
    look(all);
    last = clock() - begin;
    for (size_t o = 0; o < all.size(); o++) times[o] = quick(all[o]) / quick(all[0]);
  }
  return times;
}

ReadOrder read_order(const KernTable& kern, const Model& m, const Seconds& clock) {
  if (kern.path == Path::ref) return {kern};
  std::vector<Pair> pairs = pairs_of(m);
  if (pairs.size() < kLeastPairs) return {kern};
  ByOrder<KernTable> tables;
  for (const Order o : kAllOrders) tables[static_cast<size_t>(o)] = with_order(kern, o);
  const MxcsrScope scope;
  size_t turn = 0;
  const auto look = [&](ByOrder<std::vector<double>>& costs) {
    // All of them first: when the first is timed, the translations of its pages have been forgotten again, as in a real pass.
    const double start = clock();
    for (size_t i = 0; i < pairs.size(); i++) {
      make_cold(*pairs[i].layer->gate, pairs[i]);
      make_cold(*pairs[i].layer->up, pairs[i]);
      if (i + 1 >= kLeastPairs && clock() - start > kPreparing) pairs.resize(i + 1);
    }
    _mm_mfence();
    // Each order in turn, and in turn with the one twin and with the other.
    for (const Pair& p : pairs) {
      const size_t one = turn % tables.size(), other = (turn + 1) % tables.size();
      costs[one].push_back(cost(tables[one], *p.layer->gate, p, clock));
      costs[other].push_back(cost(tables[other], *p.layer->up, p, clock));
      turn++;
    }
  };
  const ByOrder<double> times = order_times(look, clock);
  const auto best = static_cast<size_t>(std::min_element(times.begin(), times.end()) - times.begin());
  return {tables[times[best] < kAhead ? best : 0], times};
}

std::string read_order_told(const ReadOrder& o) {
  const auto best = static_cast<size_t>(o.table.order);
  if (o.time[best] == 0) return {};
  std::string told = fmt::format("weights read {}", order_name(o.table.order));
  const char* takes = "takes ";
  for (const Order other : kAllOrders) {
    if (other == o.table.order) continue;
    const double times = o.time[static_cast<size_t>(other)] / o.time[best];
    told += fmt::format(", {} {}{:.2f}{}", order_name(other), takes, times, *takes ? " times as long" : "");
    takes = "";
  }
  return told;
}

}  // namespace nyb
