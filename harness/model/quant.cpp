// quant.cpp - a row as int8, and rows side by side as panels of every type.
#include "model/quant.h"

#include <algorithm>
#include <cfloat>
#include <cstring>
#include <vector>

#include "kern/error.h"
#include "kern/f16.h"
#include "kern/round.h"

namespace nyb {
namespace {

float magnitude(float x) {
  uint32_t b;
  std::memcpy(&b, &x, sizeof b);
  b &= 0x7fffffff;
  std::memcpy(&x, &b, sizeof x);
  return x;
}

float greatest(const float* w, size_t n) {
  float m = 0;
  for (size_t i = 0; i < n; i++) m = std::max(m, magnitude(w[i]));
  return m;
}

// the greatest magnitude of group g of a row of n
float group_max(const float* row, size_t n, size_t g) { return greatest(row + g * kGroup, std::min(kGroup, n - g * kGroup)); }

// the same group with zeros beyond the row's end
void padded_group(const float* row, size_t n, size_t g, float* x) {
  std::fill_n(x, kGroup, 0.0f);
  std::copy_n(row + g * kGroup, std::min(kGroup, n - g * kGroup), x);
}

bool scale_vanishes(float amax) { return amax > 0 && f32_to_f16(amax / 7.0f) == 0; }

}  // namespace

float quant_row_q8(const float* w, size_t n, int8_t* q) {
  const float scale = greatest(w, n) / 127.0f;
  if (scale < FLT_MIN) {
    std::memset(q, 0, n);
    return 0;
  }
  for (size_t i = 0; i < n; i++) {
    q[i] = static_cast<int8_t>(static_cast<int>(nearest_even(w[i] / scale)));  // |w / scale| < 127.01
  }
  return scale;
}

uint16_t quant_group_q80(const float* w, int8_t* q) {
  const float amax = greatest(w, kGroup);
  std::memset(q, 0, kGroup);
  if (amax == 0) return 0;
  uint16_t bits = f32_to_f16(amax / 127.0f);
  if (f16_to_f32(bits) * 127.25f < amax) bits++;  // below f16's normal numbers only: no infinity
  const float scale = f16_to_f32(bits);
  for (size_t i = 0; i < kGroup; i++) q[i] = static_cast<int8_t>(static_cast<int>(nearest_even(w[i] / scale)));
  return bits;
}

void quant_panel(TType type, const float* w, size_t rows, size_t cols, bool fit, uint8_t* panel, float* scales) {
  switch (type) {
    case TType::vec: std::memcpy(panel, w, cols * sizeof(float)); break;
    case TType::f32: {
      std::memset(panel, 0, panel_bytes(type, cols));
      for (size_t r = 0; r < rows; r++)
        for (size_t k = 0; k < cols; k++)
          std::memcpy(panel + (k * kPanelRows + r) * sizeof(float), w + r * cols + k, sizeof(float));
      break;
    }
    case TType::q8: {
      std::memset(panel, 0, panel_bytes(type, cols));
      std::fill_n(scales, kPanelRows, 0.0f);
      std::vector<int8_t> q(cols);
      for (size_t r = 0; r < rows; r++) {
        scales[r] = quant_row_q8(w + r * cols, cols, q.data());
        // four columns at a time, each piece 64 bytes after the last, through the groups
        for (size_t k = 0; k < cols; k += 4)
          std::memcpy(panel + k * kPanelRows + r * 4, q.data() + k, std::min<size_t>(4, cols - k));
      }
      break;
    }
    case TType::q4: {
      for (size_t g = 0; g < groups_of(cols); g++) {
        uint8_t* group = panel + g * kQ4GroupBytes;
        std::memset(group, 0x88, kQ4NibbleBytes);  // n = 8 is q = 0
        std::memset(group + kQ4NibbleBytes, 0, kQ4GroupBytes - kQ4NibbleBytes);
        for (size_t r = 0; r < rows; r++) {
          float x[kGroup];
          int8_t q[kGroup];
          padded_group(w + r * cols, cols, g, x);
          const uint16_t s = quant_group_q4(x, fit, q);
          std::memcpy(group + kQ4NibbleBytes + 2 * r, &s, sizeof s);
          for (size_t j = 0; j < 16; j++) group[nibble_at(r, j)] = static_cast<uint8_t>((q[j] + 8) | (q[16 + j] + 8) << 4);
        }
      }
      break;
    }
    case TType::q80: {
      std::memset(panel, 0, panel_bytes(type, cols));
      for (size_t g = 0; g < groups_of(cols); g++) {
        uint8_t* group = panel + g * kQ80GroupBytes;
        for (size_t r = 0; r < rows; r++) {
          float x[kGroup];
          int8_t q[kGroup];
          padded_group(w + r * cols, cols, g, x);
          const uint16_t s = quant_group_q80(x, q);
          std::memcpy(group + kQ8GroupBytes + 2 * r, &s, sizeof s);
          for (size_t j = 0; j < kGroup; j++) group[int8_at(r, j)] = static_cast<uint8_t>(q[j]);
        }
      }
      break;
    }
    case TType::q4k:
    case TType::q6k: throw Error(std::string(ttype_name(type)) + " comes of models that have it; none is made of floats");
  }
}

std::optional<size_t> find_not_finite(const float* w, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (!(magnitude(w[i]) <= FLT_MAX)) return i;
  return std::nullopt;
}

std::optional<ScaleFault> find_scale_fault(TType type, const float* row, size_t n) {
  constexpr float kTooSmall = 8.0f / 262144.0f;  // 8 * 2^-18
  const float most = type == TType::q4 ? 7.0f : 127.0f;
  const float step = greatest(row, n) / 127.0f;  // int8's
  for (size_t g = 0; g < groups_of(n); g++) {
    const float amax = group_max(row, n, g);
    if (amax / most > 65504.0f) return ScaleFault{g, amax, true};
    if (type == TType::q80) {
      if (amax > 0 && step >= FLT_MIN && step < 0x1p-24f) return ScaleFault{g, amax, false};
      continue;
    }
    const bool int8_finer = amax > 0 && amax < kTooSmall && step >= FLT_MIN && step <= amax / 8.0f;
    if (int8_finer || scale_vanishes(amax)) return ScaleFault{g, amax, false};
  }
  return std::nullopt;
}

Vanished count_vanished(const float* row, size_t n) {
  const float step = greatest(row, n) / 127.0f;
  Vanished v;
  for (size_t g = 0; g < groups_of(n); g++) {
    const float amax = group_max(row, n, g);
    if (!scale_vanishes(amax)) continue;
    v.in_q4++;
    v.in_q8 += step < FLT_MIN || nearest_even(amax / step) == 0;
  }
  return v;
}

}  // namespace nyb
