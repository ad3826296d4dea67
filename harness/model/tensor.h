// tensor.h - the types a tensor of a model file can have, and their sizes (docs/model-file.md).
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace nyb {

enum class TType : uint32_t {
  vec = 1,  // f32 values as they are, for norms and biases; rows = 1
  f32 = 2,  // panels: column k is sixteen floats, true columns only
  q8 = 3,   // panels of 512 B a group, then one f32 scale per (padded) row
  q4 = 4,   // panels of 256 B nibbles and 16 f16 scales a group
};
std::string_view ttype_name(TType t);  // "f32", "q8", ...

inline constexpr size_t kGroup = 32, kPanelRows = 16;
inline constexpr size_t kQ8GroupBytes = 512;   // sixteen rows' bytes of a group
inline constexpr size_t kQ4NibbleBytes = 256;  // sixteen rows' nibbles of a group, before their scales
inline constexpr size_t kQ4GroupBytes = 288;
constexpr uint64_t groups_of(uint64_t cols) { return cols / kGroup + (cols % kGroup != 0); }
constexpr uint64_t panels_of(uint64_t rows) { return rows / kPanelRows + (rows % kPanelRows != 0); }

// Bytes of one panel, and of the whole tensor (scales included, padding to 64 not). Throws Error when it overflows 2^63.
uint64_t panel_bytes(TType t, uint64_t cols);
uint64_t tensor_bytes(TType t, uint64_t rows, uint64_t cols);

// A tensor inside a mapped file. Nothing is owned.
struct Tensor {
  std::string name;
  TType type = TType::vec;
  uint64_t rows = 0, cols = 0;  // true sizes, without padding
  const uint8_t* data = nullptr;
  uint64_t bytes = 0;
  uint64_t hash = 0;    // XXH3-64 as the table has it
  uint64_t offset = 0;  // in the file

  const uint8_t* panel(uint64_t p) const { return data + p * panel_bytes(type, cols); }
  // q8: the row scales, panels_of(rows) * 16 of them
  const float* row_scale() const { return reinterpret_cast<const float*>(data + panels_of(rows) * panel_bytes(type, cols)); }
  const float* vec() const { return reinterpret_cast<const float*>(data); }
};

// Row r (0..15) of one panel as floats: float(q) * scale, or the f32 value itself. `scales` are the panel's sixteen row scales
// (q8 only). Matrices only, not vec.
void panel_row(TType type, const uint8_t* panel, const float* scales, uint64_t cols, uint64_t r, float* out);

// One row as floats (the embedding lookup): float(q) * scale, or the f32 value itself. row < rows.
void tensor_row(const Tensor& t, uint64_t row, float* out);

}  // namespace nyb
