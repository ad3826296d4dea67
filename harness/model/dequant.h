// dequant.h - blocks of ggml's quantized types taken apart, and as floats.
#pragma once
#include <cstddef>
#include <cstdint>
#include "model/ggml_type.h"

namespace nyb {

// A block in one form for all types: value i is (d * scale[i / 16]) * q[i] - m * min[i / 16], each operation rounded to float.
// Types without such scales have 1 in their place; those without minima have has_min false and no second term; Q4_1 and Q5_1, whose
// one offset is added, have it in m with a min of -1.
struct GgmlValues {
  uint32_t count = 0;     // 32 or 256
  uint16_t d = 0, m = 0;  // f16
  bool has_min = false;
  int8_t q[256];
  int8_t scale[16], min[16];
};

// The types that are read: all of GgmlType.
bool ggml_is_read(uint32_t number);

// Scale and minimum of group i (0..7) of Q4_K and Q5_K, six bits each, from the block's twelve bytes: of the first four groups in
// the low bits of bytes 0..3 and 4..7; of the others four bits in bytes 8..11, and two in the high bits of bytes 0..7.
struct GgmlScaleMin {
  uint8_t scale, min;
};
GgmlScaleMin ggml_scale_min(const uint8_t* twelve_bytes, size_t i);

// Takes apart one block of a type that is read and is not f32, f16 or bf16.
GgmlValues ggml_unpack(GgmlType type, const uint8_t* block);

// Its values: what ggml's dequantize_row_* give, bit for bit, where d and m are finite.
void ggml_floats(const GgmlValues& block, float* out);

}  // namespace nyb
