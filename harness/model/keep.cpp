#include "model/keep.h"

#include <cmath>
#include <cstring>
#include <vector>

#include "kern/f16.h"
#include "model/dequant.h"
#include "model/repack.h"

namespace nyb {
namespace {

// A group of 32 as Q8_0: {f16 d; int8 qs[32]}. A scale beside d is worked in; the product is exact in float.
void as_q8_0(const GgmlValues& v, uint32_t group, uint8_t* out) {
  const int8_t scale = v.scale[size_t{group} * 2];
  const uint16_t d = scale == 1 ? v.d : f32_to_f16(f16_to_f32(v.d) * static_cast<float>(scale));
  std::memcpy(out, &d, 2);
  std::memcpy(out + 2, v.q + group * kGroup, kGroup);
}

// {u8 ql[128]; u8 qh[64]; int8 scales[16]; f16 d}, as ggml_unpack reads it
void as_q6_k(const GgmlValues& v, uint8_t* out) {
  std::memset(out, 0, 192);
  for (size_t i = 0; i < kBlockCols; i++) {
    const int n = v.q[i] + 32;
    out[i / 128 * 64 + i % 64] |= static_cast<uint8_t>((n & 15) << i % 128 / 64 * 4);
    out[128 + i / 128 * 32 + i % 32] |= static_cast<uint8_t>(n >> 4 << i % 128 / 32 * 2);
  }
  std::memcpy(out + 192, v.scale, 16);
  std::memcpy(out + 208, &v.d, 2);
}

void respell(const TypePlan& plan, GgmlType from, const uint8_t* row, uint64_t cols, uint8_t* out) {
  const GgmlBlock& b = ggml_block(from);
  for (uint64_t i = 0; i < cols / b.values; i++) {
    const GgmlValues v = ggml_unpack(from, row + i * b.bytes);
    if (plan.type == TType::q6k) {
      as_q6_k(v, out);
      out += ggml_row_bytes(TType::q6k, kBlockCols);
    } else {
      for (uint32_t g = 0; g < v.count / kGroup; g++, out += ggml_row_bytes(TType::q80, kGroup)) as_q8_0(v, g, out);
    }
  }
}

// Sixteen rows' int8 in pieces of four, as tensor.h has them.
void rows_panel(const SourceTensor& t, uint64_t row, uint64_t rows, uint8_t* panel, float* row_scales) {
  const uint64_t cols = t.shape.back();
  std::memset(panel, 0, groups_of(cols) * kQ8GroupBytes);
  for (uint64_t r = 0; r < rows; r++) {
    const uint64_t own = source_row(t, row + r);
    row_scales[r] = source_scale(t, own);
    for (uint64_t c = 0; c < cols; c++) panel[c / 4 * 64 + r * 4 + c % 4] = t.data[own * cols + c];
  }
}

// A row of groups with f32 scales as Q4_0: {f16 d; u8 qs[16]}.
void as_q4_0(const SourceTensor& t, uint64_t row, uint8_t* out) {
  const uint64_t groups = t.shape.back() / kGroup;
  for (uint64_t g = row * groups; g < (row + 1) * groups; g++, out += 18) {
    const uint16_t d = f32_to_f16(source_scale(t, g));
    std::memcpy(out, &d, 2);
    std::memcpy(out + 2, t.data + g * 16, 16);
  }
}

// f16 holds every scale to half a unit of its last place: none is too large, and none so small that bits are lost.
bool scales_fit_f16(const SourceTensor& t) {
  constexpr float least = 0x1p-14F, most = 65504;
  for (uint64_t g = 0; g < t.shape[0] * t.shape[1] / kGroup; g++)
    if (const float scale = std::abs(source_scale(t, g)); scale != 0 && (scale < least || scale > most)) return false;
  return true;
}

}  // namespace

TypePlan type_kept(const SourceTensor& t) {
  if (t.type == SourceType::f32) return {TType::f32, Via::floats};
  if (t.type == SourceType::q8 && t.group == t.shape.back()) return {TType::q8, Via::rows};
  if (t.type == SourceType::q4) return scales_fit_f16(t) ? TypePlan{TType::q4, Via::respelled} : TypePlan{TType::q8, Via::floats};
  if (t.type == SourceType::ggml) {
    switch (t.block) {
      case GgmlType::q8_0: return {TType::q80, Via::blocks};
      case GgmlType::q4_0: return {TType::q4, Via::blocks};
      case GgmlType::q4_k: return {TType::q4k, Via::blocks};
      case GgmlType::q6_k: return {TType::q6k, Via::blocks};
      case GgmlType::q5_0:
      case GgmlType::iq4_nl:
      case GgmlType::iq4_xs: return {TType::q80, Via::respelled};
      case GgmlType::q3_k: return {TType::q6k, Via::respelled};
      default: break;
    }
  }
  return {TType::q80, Via::floats};
}

void keep_panel(const TypePlan& plan, const SourceTensor& t, uint64_t row, uint64_t rows, uint8_t* panel,
                float (&row_scales)[kPanelRows]) {
  if (plan.via == Via::rows) return rows_panel(t, row, rows, panel, row_scales);
  const uint64_t cols = t.shape.back(), out_bytes = ggml_row_bytes(plan.type, cols);
  std::vector<const uint8_t*> from(rows);
  std::vector<uint8_t> respelled(plan.via == Via::respelled ? rows * out_bytes : 0);
  for (uint64_t r = 0; r < rows; r++) {
    const uint64_t own = source_row(t, row + r);
    uint8_t* const to = respelled.data() + r * out_bytes;
    if (t.type == SourceType::q4) {
      as_q4_0(t, own, to);
      from[r] = to;
      continue;
    }
    const GgmlBlock& b = ggml_block(t.block);
    from[r] = t.data + own * (cols / b.values * b.bytes);
    if (plan.via != Via::respelled) continue;
    respell(plan, t.block, from[r], cols, to);
    from[r] = to;
  }
  repack_panel(plan.type, from, cols, panel);
}

std::string_view source_type_name(const SourceTensor& t) {
  switch (t.type) {
    case SourceType::f32: return "f32";
    case SourceType::f16: return "f16";
    case SourceType::bf16: return "bf16";
    case SourceType::q8: return t.group == t.shape.back() ? "q8" : "int8 in groups";
    case SourceType::q4: return "int4 with f32 scales";
    case SourceType::panels: return ttype_name(t.panel);
    case SourceType::ggml: break;
  }
  return ggml_block(t.block).name;
}

}  // namespace nyb
