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
  q80 = 5,  // Q8_0: panels of 512 B and 16 f16 scales a group
  q4k = 6,  // Q4_K: panels of 2,368 B a block of 256 columns
  q6k = 7,  // Q6_K: panels of 3,360 B a block
};
std::string_view ttype_name(TType t);  // "f32", "q8", ... "q8_0", "q4_K", "q6_K"
inline constexpr TType kMatrixTypes[] = {TType::f32, TType::q8, TType::q4, TType::q80, TType::q4k, TType::q6k};

inline constexpr size_t kGroup = 32, kPanelRows = 16;
inline constexpr size_t kQ8GroupBytes = 512;   // sixteen rows' bytes of a group
inline constexpr size_t kQ4NibbleBytes = 256;  // sixteen rows' nibbles of a group, before their scales
inline constexpr size_t kQ4GroupBytes = 288;
inline constexpr size_t kQ80GroupBytes = 544;  // q8's group, then the rows' f16 scales

// Q4_K and Q6_K have blocks of 256 columns: what holds for the block, then its eight groups.
inline constexpr size_t kBlockCols = 256, kBlockGroups = kBlockCols / kGroup;
// Q4_K: 16 f16 d, 16 f16 dmin; a group is 256 B nibbles (as in q4, but 0..15 as they are), 16 u8 sc, 16 u8 m
inline constexpr size_t kQ4kHeadBytes = 64, kQ4kGroupBytes = 288, kQ4kBlockBytes = kQ4kHeadBytes + kBlockGroups * kQ4kGroupBytes;
inline constexpr size_t kQ4kScaleAt = 256, kQ4kMinAt = 272;  // within a group
// Q6_K: 16 f16 d; a group is 256 B low nibbles of n = q + 32 (as in q4), 128 B high bits (q6_high_at), 16 int8 scales of columns
// 0..15, 16 of columns 16..31
inline constexpr size_t kQ6kHeadBytes = 32, kQ6kGroupBytes = 416, kQ6kBlockBytes = kQ6kHeadBytes + kBlockGroups * kQ6kGroupBytes;
inline constexpr size_t kQ6kHighAt = 256, kQ6kScaleAt = 384;  // within a group

// Within a group, of row r (0..15) and column j (0..31): the byte of an int8, and the byte of a nibble, which is the low one of
// columns 0..15 and the high one of 16..31.
constexpr size_t int8_at(size_t r, size_t j) { return j / 4 * 64 + r * 4 + j % 4; }
constexpr size_t nibble_at(size_t r, size_t j) { return int8_at(r, j % 16); }
constexpr unsigned nibble_shift(size_t j) { return j < 16 ? 0 : 4; }
// The two high bits of Q6_K: of two pieces of 64 bytes the first has those of nibble pieces 0 and 1, the second of 2 and 3. Of the
// first of the two, they lie where they belong above the low nibble (bits 4 and 5), and for the high nibble two bits further up;
// of the second, those of the low nibble lie in bits 2 and 3, of the high one in bits 0 and 1.
constexpr size_t q6_high_at(size_t r, size_t j) { return kQ6kHighAt + j % 16 / 8 * 64 + r * 4 + j % 4; }
constexpr unsigned q6_high_shift(size_t j) { return j % 8 < 4 ? (j < 16 ? 4 : 6) : (j < 16 ? 2 : 0); }

// Columns come in whole blocks of as many (1: any number).
constexpr uint64_t block_cols(TType t) { return t == TType::q4k || t == TType::q6k ? kBlockCols : 1; }
constexpr uint64_t groups_of(uint64_t cols) { return cols / kGroup + (cols % kGroup != 0); }
constexpr uint64_t panels_of(uint64_t rows) { return rows / kPanelRows + (rows % kPanelRows != 0); }

// Bytes of one panel, and of the whole tensor (scales included, padding to 64 not). Throws Error when it overflows 2^63, or when
// cols is no multiple of block_cols.
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

// Row r (0..15) of one panel as floats: the f32 value itself; float(q) * scale; for Q4_K float(q) * (d * sc) - dmin * m, for Q6_K
// float(q) * (d * sc), each operation rounded. `scales` are the panel's sixteen row scales (q8 only). Matrices only, not vec.
void panel_row(TType type, const uint8_t* panel, const float* scales, uint64_t cols, uint64_t r, float* out);

// One row as floats (the embedding lookup), as panel_row has it. row < rows.
void tensor_row(const Tensor& t, uint64_t row, float* out);

}  // namespace nyb
