// matvec.cpp - a few panels at a time, so that they stay in the core's own cache while the tokens pass.
#include "engine/matvec.h"

#include <algorithm>

namespace nyb {
namespace {

constexpr size_t kTileBytes = size_t{24} << 10;  // of weights; leaves room for a token's vector in the smallest first cache

void one(const KernTable& kern, const Tensor& w, size_t from, size_t count, const MatIn& in, size_t token, float* y) {
  const uint8_t* const panel = w.panel(from);
  const QxGroup* const x = in.groups + token * in.groups_stride;
  switch (w.type) {
    case TType::q8: return kern.gemv_q8(panel, w.row_scale() + from * kPanelRows, x, y, groups_of(w.cols), count);
    case TType::q4: return kern.gemv_q4(panel, x, y, groups_of(w.cols), count);
    case TType::q80: return kern.gemv_q80(panel, x, y, groups_of(w.cols), count);
    case TType::q4k: return kern.gemv_q4k(panel, x, y, groups_of(w.cols), count);
    case TType::q6k: return kern.gemv_q6k(panel, x, y, groups_of(w.cols), count);
    case TType::f32:
      return kern.gemv_f32(reinterpret_cast<const float*>(panel), in.values + token * in.values_stride, y, w.cols, count);
    case TType::vec: break;
  }
}

}  // namespace

void mat_panels(const KernTable& kern, const Tensor& w, size_t from, size_t to, const MatIn& in, size_t tokens, float* y,
                size_t y_stride) {
  if (tokens == 1) return one(kern, w, from, to - from, in, 0, y);
  const size_t tile = std::max<size_t>(kTileBytes / panel_bytes(w.type, w.cols), 1);
  for (size_t p = from; p < to; p += tile)
    for (size_t t = 0; t < tokens; t++) one(kern, w, p, std::min(tile, to - p), in, t, y + t * y_stride + (p - from) * kPanelRows);
}

}  // namespace nyb
