// read_order.h - in which order this CPU reads a model's weights fastest: in order, by pages or in streams (macros/stream.inc,
// six_streams.inc). The bits are the same, so the choice may hang on a measurement.
#pragma once
#include <array>
#include <functional>
#include <string>
#include <vector>

#include "engine/seconds.h"
#include "kern/kern.h"
#include "model/model.h"

namespace nyb {

// The table, which reads in order, and where its products with this type have other orders those too.
std::vector<KernTable> read_orders(const KernTable& kern, TType type);

template <class T>
using ByOrder = std::array<T, std::size(kAllOrders)>;

struct ReadOrder {
  KernTable table;         // with the fastest order
  ByOrder<double> time{};  // what each takes, in order 1; all 0: not measured
};

// What each order takes, in order 1, by the quick ones of what look() adds, products in seconds a byte of the weights, one at least
// of each. It is called twice, and again while it is not clear which is the fastest: eight times at most. After the first time it
// is not called where it would end more than 20 ms after the beginning if it took as long as the last time.
ByOrder<double> order_times(const std::function<void(ByOrder<std::vector<double>>& costs)>& look,
                            const Seconds& clock = seconds_now);

// Times products with slices of the feed-forward matrices from memory (they are driven out of the caches before; a model that stays
// in one gains little by any), one of a layer's pair in one order and its twin in another, and compares the quick ones of all. A
// look reads 16 MiB at most, with one thread, and there are two as a rule: 5 ms in all on an Ice Lake, 15 with one look on a CPU
// without CLFLUSHOPT. In order where the difference is not above what a measurement can show, and where there is nothing to
// measure: no quantized matrices, too small ones, the scalar path.
ReadOrder read_order(const KernTable& kern, const Model& m, const Seconds& clock = seconds_now);

// "weights read by pages, in order takes 1.41 times as long, in streams 1.07"; nothing where it was not measured.
std::string read_order_told(const ReadOrder& o);

}  // namespace nyb
