// read_order.h - whether this CPU reads a model's weights faster in order or by pages (macros/stream.inc). The bits are the same,
// so the choice may hang on a measurement.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "engine/seconds.h"
#include "kern/kern.h"
#include "model/model.h"

namespace nyb {

// The table, in order, and where its products with this type have another order that one too.
std::vector<KernTable> read_orders(const KernTable& kern, TType type);

struct ReadOrder {
  KernTable table;   // with the faster order
  double other = 0;  // how many times as long the other takes; 0: not measured
};

// What products took, in seconds a byte of the weights: some in order, and their twins by pages.
struct OrderCosts {
  std::vector<double> in_order, by_pages;
};
// How many times as long it takes by pages, by the quick ones of what look() adds, which is one at least of both. It is called
// twice, and again while what it showed so far is not clear: eight times at most. After the first time it is not called where it
// would end more than 20 ms after the beginning if it took as long as the last time.
double pages_ratio(const std::function<void(OrderCosts&)>& look, const Seconds& clock = seconds_now);

// Times products with slices of the feed-forward matrices from memory (they are driven out of the caches before; a model that stays
// in one gains little by either), one of a layer's pair in order and its twin by pages, and compares the quick ones of both. A look
// reads 16 MiB at most, with one thread, and there are two as a rule: 5 ms in all on an Ice Lake, 15 with one look on a CPU without
// CLFLUSHOPT. In order where the difference is not above what a measurement can show, and where there is nothing to measure:
// no quantized matrices, too small ones, the scalar path.
ReadOrder read_order(const KernTable& kern, const Model& m, const Seconds& clock = seconds_now);

// "weights read by pages, in order takes 1.41 times as long"; nothing where it was not measured.
std::string read_order_told(const ReadOrder& o);

}  // namespace nyb
