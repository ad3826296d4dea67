// quant.h - weights into panels of sixteen rows (docs/model-file.md, "The panel" and "Quantizers"). Only correctly rounded
// float and double operations in a fixed order, so every machine makes the same bytes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include "model/tensor.h"

namespace nyb {

// One row of n weights as int8: scale = max|w| / 127, q = nearest-even(w / scale), within -127..127. A row whose scale would
// be below the smallest normal float (max|w| < 1.5e-36) is stored as zeros with scale 0. Weights must be finite.
float quant_row_q8(const float* w, size_t n, int8_t* q);

// One group of 32 weights as int4: q in -8..7 and the f16 scale, which is returned as bits (it may be negative).
// Fitted: the candidate with the least squared error; else scale = max|w| / 7. A group of zeros has scale 0 and q 0.
uint16_t quant_group_q4(const float* w, bool fit, int8_t* q);

// The same as Q8_0: scale = max|w| / 127 in f16, or the next above it where that one's 127 falls short of the greatest weight by a
// quarter of a step; q in -127..127. max|w| must be at most 65504 * 127.
uint16_t quant_group_q80(const float* w, int8_t* q);

// Sixteen rows side by side. `w` is [rows][cols], rows 1..16 of them (the others become zero rows), finite; `panel` is
// panel_bytes(type, cols); the type is vec, f32, q8, q4 or q80 (Error for the others). For q8 the sixteen row scales go to
// `scales`, else it may be null.
void quant_panel(TType type, const float* w, size_t rows, size_t cols, bool fit, uint8_t* panel, float* scales);

// The index of the first weight that is infinite or NaN.
std::optional<size_t> find_not_finite(const float* w, size_t n);

// Why a row cannot be of a type with f16 scales, q4 or q80: a group whose scale f16 cannot hold well. Too large: its max/7 (of q80
// max/127) is beyond 65504. Too small, of q4: its max/7 becomes zero; or its max/8 is below 2^-18, where f16 keeps fewer than six
// bits of a scale, while the row's int8 step would be finer. Of q80: the row's int8 step is below 2^-24, f16's least.
struct ScaleFault {
  size_t group;
  float amax;
  bool large;
};
std::optional<ScaleFault> find_scale_fault(TType type, const float* row, size_t n);

// Groups of a row that are not zero, but whose int4 scale f16 makes zero; and those of them that int8 makes zero as well.
struct Vanished {
  uint64_t in_q4 = 0, in_q8 = 0;
};
Vanished count_vanished(const float* row, size_t n);

}  // namespace nyb
