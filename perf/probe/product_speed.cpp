// product_speed.cpp - matrix after matrix, as layers come.
#include "probe/product_speed.h"
#include <algorithm>
#include <chrono>
#include <cstring>
#include <vector>
#include "common/app.h"
#include "engine/matvec.h"
#include "engine/read_order.h"
#include "probe/probe.h"
#include "weights.h"

namespace nyb {
namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t kRows = 4096, kCols = 4096;
constexpr unsigned kRounds = 5;

}  // namespace

double product_speed(TType type, const KernTable& kern, Pool& pool, size_t bytes) {
  const size_t one = weight_bytes(type, kRows, kCols), count = std::max<size_t>(1, bytes / one);
  const Memory memory(one * count, Memory::Pages::small);
  Tensor w = random_matrix(type, kRows, kCols, memory.data(), 1);
  for (size_t i = 1; i < count; ++i) std::memcpy(memory.data() + i * one, memory.data(), one);
  Vectors vectors(kCols, kRows);
  const size_t panels = panels_of(kRows);
  const auto pass = [&](const KernTable& order) {  // GB/s
    if (interrupted()) throw Interrupted{};
    const Clock::time_point start = Clock::now();
    for (size_t i = 0; i < count; ++i) {
      w.data = reinterpret_cast<const uint8_t*>(memory.data() + i * one);
      par_for(pool, panels, panel_grain(pool, panels, order.panels_together()), [&](size_t first, size_t end, unsigned) {
        mat_panels(order, w, first, end, vectors.in(), 1, vectors.y.data() + kPanelRows * first, 0);
      });
    }
    return static_cast<double>(w.bytes * count) * 1e-9 / std::chrono::duration<double>(Clock::now() - start).count();
  };
  double best = 0;
  for (const KernTable& order : read_orders(kern, type)) {
    pass(order);  // warms up
    std::vector<double> speeds(kRounds);
    for (double& speed : speeds) speed = pass(order);
    best = std::max(best, median(speeds));
  }
  return best;
}

}  // namespace nyb
