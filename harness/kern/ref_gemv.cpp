// ref_gemv.cpp - activations to int8 groups, and the matrix-vector products over panels of sixteen rows.
#include "kern/f16.h"
#include "kern/ref.h"
#include "kern/ref_mem.h"
#include "kern/ref_scalar.h"

namespace nyb::ref {
namespace {

constexpr size_t kRows = 16;
constexpr size_t kGroupLen = 32;

// Below this amax 127 / amax is infinite.
constexpr float kAmaxLeast = 3.7322e-37f;

QxGroup quantize_group(const float (&x)[kGroupLen], uint32_t amax_bits) {
  QxGroup out = {};
  const float amax = std::bit_cast<float>(amax_bits);
  if (amax < kAmaxLeast) return out;
  out.scale = amax / 127.0f;
  const float inv = 127.0f / amax;
  for (size_t i = 0; i < kGroupLen; ++i) {
    const auto q = static_cast<int32_t>(nearest_even(x[i] * inv));
    out.q[i] = static_cast<int8_t>(q);
    out.sum += q;
    if (i >= kGroupLen / 2) out.sum_hi += q;
  }
  out.xsum = static_cast<float>(out.sum) * out.scale;
  return out;
}

// A group of int8 is [piece of 8][row][4 columns].
int32_t int8_dot(const int8_t* group, size_t r, const QxGroup& in) {
  int32_t sum = 0;
  for (size_t i = 0; i < kGroupLen; ++i) sum += group[(i / 4 * kRows + r) * 4 + i % 4] * in.q[i];
  return sum;
}

}  // namespace

uint32_t qx_vec(const float* x, QxGroup* out, size_t n) {
  for (size_t first = 0; first < n; first += kGroupLen) {
    float group[kGroupLen] = {};
    uint32_t amax_bits = 0;
    for (size_t i = 0; i < kGroupLen && first + i < n; ++i) {
      group[i] = get(x, first + i);
      const uint32_t bits = abs_bits(group[i]);
      if (bits > amax_bits) amax_bits = bits;
    }
    if (amax_bits >= 0x7f800000u) return 1;
    put(out, first / kGroupLen, quantize_group(group, amax_bits));
  }
  return 0;
}

void gemv_q8(const void* w, const float* row_scale, const QxGroup* x, float* y, size_t groups, size_t panels) {
  const auto* bytes = static_cast<const int8_t*>(w);
  for (size_t panel = 0; panel < panels; ++panel) {
    float acc[kRows] = {};
    for (size_t g = 0; g < groups; ++g, bytes += kRows * kGroupLen) {
      const QxGroup in = get(x, g);
      for (size_t r = 0; r < kRows; ++r) acc[r] = fma_once(static_cast<float>(int8_dot(bytes, r, in)), in.scale, acc[r]);
    }
    for (size_t r = 0; r < kRows; ++r) put(y, panel * kRows + r, acc[r] * get(row_scale, panel * kRows + r));
  }
}

// After the bytes of a group, sixteen f16 scales.
void gemv_q80(const void* w, const QxGroup* x, float* y, size_t groups, size_t panels) {
  const auto* bytes = static_cast<const int8_t*>(w);
  for (size_t panel = 0; panel < panels; ++panel) {
    float acc[kRows] = {};
    for (size_t g = 0; g < groups; ++g, bytes += kRows * (kGroupLen + 2)) {
      const QxGroup in = get(x, g);
      const auto* scales = reinterpret_cast<const uint16_t*>(bytes + kRows * kGroupLen);
      for (size_t r = 0; r < kRows; ++r)
        acc[r] = fma_once(static_cast<float>(int8_dot(bytes, r, in)), f16_to_f32(get(scales, r)) * in.scale, acc[r]);
    }
    for (size_t r = 0; r < kRows; ++r) put(y, panel * kRows + r, acc[r]);
  }
}

// A group of a panel is [piece of 4][row][4 bytes], a byte holding column i (low nibble) and column 16 + i, both plus 8;
// then sixteen f16 scales.
void gemv_q4(const void* w, const QxGroup* x, float* y, size_t groups, size_t panels) {
  const auto* bytes = static_cast<const uint8_t*>(w);
  constexpr size_t half = kGroupLen / 2;
  for (size_t panel = 0; panel < panels; ++panel) {
    float acc[kRows] = {};
    for (size_t g = 0; g < groups; ++g, bytes += kRows * half + kRows * 2) {
      const QxGroup in = get(x, g);
      const auto* scales = reinterpret_cast<const uint16_t*>(bytes + kRows * half);
      for (size_t r = 0; r < kRows; ++r) {
        int32_t sum = 0;
        for (size_t i = 0; i < half; ++i) {
          const int32_t pair = bytes[(i / 4 * kRows + r) * 4 + i % 4];
          sum += ((pair & 15) - 8) * in.q[i] + ((pair >> 4) - 8) * in.q[half + i];
        }
        acc[r] = fma_once(static_cast<float>(sum), f16_to_f32(get(scales, r)) * in.scale, acc[r]);
      }
    }
    for (size_t r = 0; r < kRows; ++r) put(y, panel * kRows + r, acc[r]);
  }
}

void gemv_f32(const float* w, const float* x, float* y, size_t cols, size_t panels) {
  for (size_t panel = 0; panel < panels; ++panel) {
    float acc[kRows] = {};
    for (size_t k = 0; k < cols; ++k) {
      const float in = get(x, k);
      for (size_t r = 0; r < kRows; ++r) acc[r] = fma_once(get(w, (panel * cols + k) * kRows + r), in, acc[r]);
    }
    for (size_t r = 0; r < kRows; ++r) put(y, panel * kRows + r, acc[r]);
  }
}

// The order in which memory is read is no part of the definition.
void gemv_q8_pages(const void* w, const float* row_scale, const QxGroup* x, float* y, size_t groups, size_t panels) {
  gemv_q8(w, row_scale, x, y, groups, panels);
}
void gemv_q4_pages(const void* w, const QxGroup* x, float* y, size_t groups, size_t panels) { gemv_q4(w, x, y, groups, panels); }
void gemv_q80_pages(const void* w, const QxGroup* x, float* y, size_t groups, size_t panels) { gemv_q80(w, x, y, groups, panels); }
void gemv_q4k_pages(const void* w, const QxGroup* x, float* y, size_t groups, size_t panels) { gemv_q4k(w, x, y, groups, panels); }
void gemv_q6k_pages(const void* w, const QxGroup* x, float* y, size_t groups, size_t panels) { gemv_q6k(w, x, y, groups, panels); }

void gemv_q8_streams(const void* w, const float* row_scale, const QxGroup* x, float* y, size_t groups, size_t panels) {
  gemv_q8(w, row_scale, x, y, groups, panels);
}
void gemv_q4_streams(const void* w, const QxGroup* x, float* y, size_t groups, size_t panels) { gemv_q4(w, x, y, groups, panels); }
void gemv_q80_streams(const void* w, const QxGroup* x, float* y, size_t groups, size_t panels) {
  gemv_q80(w, x, y, groups, panels);
}
void gemv_q4k_streams(const void* w, const QxGroup* x, float* y, size_t groups, size_t panels) {
  gemv_q4k(w, x, y, groups, panels);
}
void gemv_q6k_streams(const void* w, const QxGroup* x, float* y, size_t groups, size_t panels) {
  gemv_q6k(w, x, y, groups, panels);
}

}  // namespace nyb::ref
