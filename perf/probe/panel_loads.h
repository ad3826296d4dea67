// panel_loads.h - the loads of a product and nothing else: what is left of the product's time is its arithmetic.
#pragma once
#include <cstddef>
#include <cstdint>
#include "engine/matvec.h"
#include "kern/cpu.h"
#include "kern/kern.h"
#include "model/tensor.h"

namespace nyb {

// Loops with the access pattern and the prefetches of the products of one vector width.
struct PanelLoads {
  using Stream = uint64_t(const void* w, const void* x, size_t bytes);
  Stream *by_512, *by_576;  // panels that are one stream, so many bytes at a time
  uint64_t (*f32)(const void* w, const float* x, size_t cols, size_t panels);
  const PanelLoads* few = nullptr;  // of fewer panels than kStreams, where those have loops of their own
};

// With the vectors and the order of reading of that table's products (ref: the narrow ones). nullptr where `cpu` has no AVX2.
const PanelLoads* panel_loads(const CpuFeatures& cpu, const KernTable& kern);

// Loads panels [from, to) of a matrix and what the product takes of x, as mat_panels of one token does, but for the row scales of
// q8 (a thousandth). Returns the exclusive or of the panels' 64-bit words.
uint64_t load_panels(const PanelLoads& loads, const Tensor& w, size_t from, size_t to, const MatIn& x);

// The same by plain code: what load_panels has to return.
uint64_t panels_xor(const Tensor& w, size_t from, size_t to);

}  // namespace nyb
