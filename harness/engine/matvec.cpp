// matvec.cpp - a few panels at a time, so that they stay in the core's own cache while the tokens pass.
#include "engine/matvec.h"

#include <algorithm>
#include <bit>

namespace nyb {
namespace {

constexpr size_t kBlockBytes = size_t{128} << 10;  // of weights; half of the smallest second cache

// Of a type's gemv the one that reads in the table's order; in streams with enough panels for that, else in order.
template <class Gemv>
Gemv* in_order_of(const KernTable& kern, size_t panels, Gemv* in_order, Gemv* pages, Gemv* streams) {
  if (kern.order == Order::pages) return pages;
  return kern.order == Order::streams && panels >= kStreams ? streams : in_order;
}

void one(const KernTable& kern, const Tensor& w, size_t from, size_t count, const MatIn& in, float* y) {
  const uint8_t* const panel = w.panel(from);
  const size_t groups = groups_of(w.cols);
#define GEMV(type) in_order_of(kern, count, kern.gemv_##type, kern.gemv_##type##_pages, kern.gemv_##type##_streams)
  switch (w.type) {
    case TType::q8: return GEMV(q8)(panel, w.row_scale() + from * kPanelRows, in.groups, y, groups, count);
    case TType::q4: return GEMV(q4)(panel, in.groups, y, groups, count);
    case TType::q80: return GEMV(q80)(panel, in.groups, y, groups, count);
    case TType::q4k: return GEMV(q4k)(panel, in.groups, y, groups, count);
    case TType::q6k: return GEMV(q6k)(panel, in.groups, y, groups, count);
    case TType::f32: return kern.gemv_f32(reinterpret_cast<const float*>(panel), in.values, y, w.cols, count);
    case TType::vec: break;
  }
#undef GEMV
}

void several(const KernTable& kern, TType t, const GemmArgs& args) {
  switch (t) {
    case TType::q8: return kern.gemm_q8(&args);
    case TType::q4: return kern.gemm_q4(&args);
    case TType::q80: return kern.gemm_q80(&args);
    case TType::q4k: return kern.gemm_q4k(&args);
    case TType::q6k: return kern.gemm_q6k(&args);
    case TType::f32: return kern.gemm_f32(&args);
    case TType::vec: break;
  }
}

// How often panels pass: tiles of the most tokens, half as many, and so on; before them, on avx2, as many tiles at once as thirty
// tokens have, where their weights are unpacked into memory (asm/gemm_*.asm).
size_t passes(Path path, TType type, size_t tokens) {
  const bool six_bits = type == TType::q6k, narrow = path == Path::avx2;
  const size_t few = narrow ? (six_bits ? 3 : 5) : (six_bits ? 2 : 3), most = few << (path == Path::avx512);
  size_t n = 0;
  for (const size_t from = six_bits ? 9 : 20; narrow && (six_bits || type == TType::q4k) && tokens >= from; n++)
    tokens -= std::min<size_t>(tokens, 30) / most * most;
  const size_t rest = tokens % most;
  return n + tokens / most + (rest > 0) + (rest > (most + 1) / 2);
}

// While the panels of these arguments pass, as many bytes after them are asked for.
void ask_ahead(Path path, TType type, GemmArgs& args, size_t bytes) {
  const uintptr_t end = reinterpret_cast<uintptr_t>(args.w) + bytes;
  args.ahead = end & ~uintptr_t{4095};
  args.ahead_end = end + bytes;
  args.ahead_mask = std::bit_floor(passes(path, type, args.tokens)) - 1;
}

}  // namespace

void mat_panels(const KernTable& kern, const Tensor& w, size_t from, size_t to, const MatIn& in, size_t tokens, float* y,
                size_t y_stride) {
  if (tokens == 1) return one(kern, w, from, to - from, in, y);
  const bool groups = takes_groups(w.type);
  const size_t block = std::max<size_t>(kBlockBytes / panel_bytes(w.type, w.cols) & ~size_t{1}, 2);  // kernels take pairs
  alignas(64) std::byte room[kGemmRoom];
  for (size_t p = from; p < to; p += block) {
    const size_t panels = std::min(block, to - p);
    GemmArgs args{.w = w.panel(p),
                  .row_scale = w.type == TType::q8 ? w.row_scale() + p * kPanelRows : nullptr,
                  .x = groups ? static_cast<const void*>(in.groups) : in.values,
                  .y = y + (p - from) * kPanelRows,
                  .groups = groups ? groups_of(w.cols) : w.cols,
                  .panels = panels,
                  .tokens = tokens,
                  .x_stride = groups ? in.groups_stride : in.values_stride,
                  .y_stride = y_stride,
                  .room = room};
    if (kern.asks_pages()) ask_ahead(kern.path, w.type, args, panels * panel_bytes(w.type, w.cols));
    several(kern, w.type, args);
  }
}

}  // namespace nyb
