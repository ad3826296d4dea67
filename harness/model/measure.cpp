// measure.cpp - what a product and the weights lose by the conversion.
#include "model/measure.h"

#include "kern/dmath.h"
#include "kern/ref.h"
#include "kern/splitmix.h"

namespace nyb {
namespace {

// within (0, 1)
double uniform(uint64_t& s) { return (static_cast<double>(splitmix64(s) >> 12) + 0.5) * 0x1p-52; }

}  // namespace

std::vector<float> normal_values(size_t n, uint64_t seed) {
  std::vector<float> v(n + 1);
  for (size_t i = 0; i < n; i += 2) {  // Box and Muller
    const double radius = std::sqrt(-2 * det_log(uniform(seed)));
    const SinCos a = det_sincos(6.283185307179586 * uniform(seed));
    v[i] = static_cast<float>(radius * a.cos);
    v[i + 1] = static_cast<float>(radius * a.sin);
  }
  v.resize(n);
  return v;
}

ProductMeter::ProductMeter(uint64_t cols, uint64_t seed) : cols_(cols), x_(normal_values(cols, seed + cols)), qx_(groups_of(cols)) {
  ref::qx_vec(x_.data(), qx_.data(), cols);
}

ErrorSum ProductMeter::measure(TType type, const float* w, size_t rows, const uint8_t* panel, const float* scales) const {
  float y[kPanelRows] = {};
  switch (type) {
    case TType::q8: ref::gemv_q8(panel, scales, qx_.data(), y, qx_.size(), 1); break;
    case TType::q4: ref::gemv_q4(panel, qx_.data(), y, qx_.size(), 1); break;
    case TType::f32: ref::gemv_f32(reinterpret_cast<const float*>(panel), x_.data(), y, cols_, 1); break;
    case TType::q80: ref::gemv_q80(panel, qx_.data(), y, qx_.size(), 1); break;
    case TType::q4k: ref::gemv_q4k(panel, qx_.data(), y, qx_.size(), 1); break;
    case TType::q6k: ref::gemv_q6k(panel, qx_.data(), y, qx_.size(), 1); break;
    case TType::vec: return {};
  }
  ErrorSum e;
  for (size_t r = 0; r < rows; r++) {
    double sum = 0;
    for (size_t k = 0; k < cols_; k++) sum += static_cast<double>(w[r * cols_ + k]) * static_cast<double>(x_[k]);
    e.add(static_cast<double>(y[r]), sum);
  }
  return e;
}

ErrorSum weight_error(TType type, const float* w, size_t rows, size_t cols, const uint8_t* panel, const float* scales) {
  ErrorSum e;
  std::vector<float> is(cols);
  for (size_t r = 0; r < rows; r++) {
    if (type == TType::vec)
      is.assign(w + r * cols, w + (r + 1) * cols);
    else
      panel_row(type, panel, scales, cols, r, is.data());
    for (size_t k = 0; k < cols; k++) e.add(static_cast<double>(is[k]), static_cast<double>(w[r * cols + k]));
  }
  return e;
}

}  // namespace nyb
