#include "model/keep.h"

#include <cstring>
#include <vector>

#include "kern/f16.h"
#include "model/dequant.h"
#include "model/repack.h"

namespace nyb {
namespace {

// A group of 32 as Q8_0: {f16 d; int8 qs[32]}. A scale beside d is worked in; the product is exact in float.
void as_q8_0(const GgmlValues& v, uint32_t group, uint8_t* out) {
  const int8_t scale = v.scale[group * 2];
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

}  // namespace

TypePlan type_kept(const SourceTensor& t) {
  if (t.type == SourceType::f32) return {TType::f32, Via::floats};
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

void keep_panel(const TypePlan& plan, const SourceTensor& t, uint64_t row, uint64_t rows, uint8_t* panel) {
  const GgmlBlock& b = ggml_block(t.block);
  const uint64_t cols = t.shape.back(), row_bytes = cols / b.values * b.bytes;
  std::vector<const uint8_t*> from(rows);
  for (uint64_t r = 0; r < rows; r++) from[r] = t.data + source_row(t, row + r) * row_bytes;
  std::vector<uint8_t> respelled;
  if (plan.via == Via::respelled) {
    const uint64_t out_bytes = ggml_row_bytes(plan.type, cols);
    respelled.resize(rows * out_bytes);
    for (uint64_t r = 0; r < rows; r++) {
      respell(plan, t.block, from[r], cols, respelled.data() + r * out_bytes);
      from[r] = respelled.data() + r * out_bytes;
    }
  }
  repack_panel(plan.type, from, cols, panel);
}

std::string_view source_type_name(const SourceTensor& t) {
  switch (t.type) {
    case SourceType::f32: return "f32";
    case SourceType::f16: return "f16";
    case SourceType::bf16: return "bf16";
    case SourceType::q8: return "int8 in groups";
    case SourceType::ggml: break;
  }
  return ggml_block(t.block).name;
}

}  // namespace nyb
