#include "model/gguf_rows.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kern/error.h"
#include "kern/f16.h"
#include "kern/round.h"
#include "model/bytes.h"
#include "model/quant.h"
#include "model/repack.h"
#include "model/tensor.h"

namespace nyb {
namespace {

constexpr float kMostF16 = 65504, kInfiniteF16 = 65520;  // what f16 holds; from where on it rounds to an infinity
constexpr float kLeastNormalF16 = 0x1p-14F;
constexpr uint16_t kMostF16Bits = 0x7bff, kMostBf16Bits = 0x7f7f;

uint16_t as_f16(float x, RowFaults& faults) {
  if (std::abs(x) < kInfiniteF16) return f32_to_f16(x);
  faults.saturated++;
  return static_cast<uint16_t>(kMostF16Bits | (x < 0 ? 0x8000 : 0));
}

// Nearest even: what is cut off decides, and on the middle the last bit that stays.
uint16_t as_bf16(float x, RowFaults& faults) {
  uint32_t b;
  std::memcpy(&b, &x, sizeof b);
  const uint32_t rounded = b + 0x7fff + (b >> 16 & 1);
  if ((rounded & 0x7fffffff) < 0x7f800000) return static_cast<uint16_t>(rounded >> 16);
  faults.saturated++;
  return static_cast<uint16_t>(kMostBf16Bits | (b >> 16 & 0x8000));
}

// Every value to its nearest multiple of the greatest scale.
void saturated(const float* w, float least, float most, int8_t* q) {
  for (size_t i = 0; i < kGroup; i++)
    q[i] = static_cast<int8_t>(static_cast<int>(nearest_even(std::clamp(w[i] / kMostF16, least, most))));
}

float greatest(const float* w) {
  float m = 0;
  for (size_t i = 0; i < kGroup; i++) m = std::max(m, std::abs(w[i]));
  return m;
}

bool all_zero(const int8_t* q) {
  return std::all_of(q, q + kGroup, [](int8_t x) { return x == 0; });
}

// {f16 d; int8 qs[32]}
void as_q8_0(const float* w, uint8_t* out, RowFaults& faults) {
  int8_t q[kGroup];
  uint16_t d = kMostF16Bits;
  const float amax = greatest(w);
  if (amax / 127 < kInfiniteF16) {
    d = quant_group_q80(w, q);
    faults.vanished += amax > 0 && all_zero(q);
  } else {
    saturated(w, -127, 127, q);
    faults.saturated++;
  }
  std::memcpy(out, &d, 2);
  std::memcpy(out + 2, q, kGroup);
}

// {f16 d; u8 qs[16]}, byte j: value j below, 16 + j above, each q + 8
void as_q4_0(const float* w, bool fit, uint8_t* out, RowFaults& faults) {
  int8_t q[kGroup];
  uint16_t d = kMostF16Bits;
  const float amax = greatest(w);
  if (amax / 7 < kInfiniteF16) {
    d = quant_group_q4(w, fit, q);
    faults.vanished += amax > 0 && all_zero(q);
  } else {
    saturated(w, -8, 7, q);
    faults.saturated++;
  }
  std::memcpy(out, &d, 2);
  for (size_t j = 0; j < 16; j++) out[2 + j] = static_cast<uint8_t>((q[j] + 8) | (q[16 + j] + 8) << 4);
}

bool f16_holds(float scale) {
  const float s = std::abs(scale);
  return s == 0 || (s >= kLeastNormalF16 && s < kInfiniteF16);
}

GgmlType panel_type(TType t) {
  switch (t) {
    case TType::q8:
    case TType::q80: return GgmlType::q8_0;
    case TType::q4: return GgmlType::q4_0;
    case TType::q4k: return GgmlType::q4_k;
    case TType::q6k: return GgmlType::q6_k;
    case TType::vec:
    case TType::f32: break;
  }
  return GgmlType::f32;
}

GgmlType own_type(const SourceTensor& t) {
  switch (t.type) {
    case SourceType::f32: return GgmlType::f32;
    case SourceType::f16: return GgmlType::f16;
    case SourceType::bf16: return GgmlType::bf16;
    case SourceType::q8: return GgmlType::q8_0;
    case SourceType::q4: return GgmlType::q4_0;
    case SourceType::ggml: return t.block;
    case SourceType::panels: break;
  }
  return panel_type(t.panel);
}

}  // namespace

GgmlType gguf_fitting_type(GgmlType type, uint64_t cols) { return cols % ggml_block(type).values == 0 ? type : GgmlType::f16; }

GgmlType gguf_kept_type(const SourceTensor& t) { return gguf_fitting_type(own_type(t), t.shape.back()); }

GgufRows::GgufRows(const SourceTensor& t, GgmlType type, bool fit)
    : t_(t),
      type_(type),
      fit_(fit),
      kept_(own_type(t) == type),
      cols_(t.pairs_of != 0 && t.shape.back() == 1 ? t.shape[0] : t.shape.back()),
      values_(cols_) {
  const GgmlBlock& b = ggml_block(type);
  bytes_ = cols_ / b.values * b.bytes;
}

void GgufRows::row(uint64_t row, uint8_t* out) {
  source_read(t_, row * cols_, cols_, values_.data());
  if (const auto bad = find_not_finite(values_.data(), cols_)) throw NotFinite{*bad};
  switch (type_) {
    case GgmlType::f32: std::memcpy(out, values_.data(), bytes_); return;
    case GgmlType::f16:
    case GgmlType::bf16:
      for (uint64_t i = 0; i < cols_; i++) {
        const uint16_t v = type_ == GgmlType::f16 ? as_f16(values_[i], faults_) : as_bf16(values_[i], faults_);
        std::memcpy(out + 2 * i, &v, 2);
      }
      return;
    default: break;
  }
  if (kept_ && t_.type == SourceType::ggml) {
    std::memcpy(out, t_.data + source_row(t_, row) * bytes_, bytes_);
  } else if (kept_ && t_.type == SourceType::panels && t_.panel != TType::q8) {
    unpack_row(t_.panel, source_panels(t_).panel(row / kPanelRows), cols_, row % kPanelRows, out);
  } else {
    for (uint64_t g = 0; g < cols_ / kGroup; g++, out += ggml_block(type_).bytes)
      if (!kept_ || !own_group(row, g, out)) group(values_.data() + g * kGroup, out);
  }
}

void GgufRows::group(const float* w, uint8_t* out) {
  if (type_ == GgmlType::q8_0)
    as_q8_0(w, out, faults_);
  else
    as_q4_0(w, fit_, out, faults_);
}

bool GgufRows::own_group(uint64_t row, uint64_t g, uint8_t* out) const {
  const uint64_t own = source_row(t_, row), first = own * cols_ + g * kGroup;
  float scale = 0;
  if (t_.type == SourceType::panels) {
    const Tensor panels = source_panels(t_);
    const uint8_t* group = panels.panel(row / kPanelRows) + g * kQ8GroupBytes;
    for (size_t j = 0; j < kGroup; j++) out[2 + j] = group[int8_at(row % kPanelRows, j)];
    scale = panels.row_scale()[row];
  } else if (t_.type == SourceType::q8) {
    if (t_.group % kGroup != 0) return false;
    std::memcpy(out + 2, t_.data + first, kGroup);
    scale = source_scale(t_, first / t_.group);
  } else {
    std::memcpy(out + 2, t_.data + first / 2, kGroup / 2);
    scale = source_scale(t_, first / kGroup);
  }
  const uint16_t d = f32_to_f16(scale);
  std::memcpy(out, &d, 2);
  return f16_holds(scale);
}

}  // namespace nyb
