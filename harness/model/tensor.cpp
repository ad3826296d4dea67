// tensor.cpp - sizes, and single rows out of panels.
#include "model/tensor.h"

#include <cstring>

#include "kern/error.h"
#include "kern/f16.h"
#include "model/bytes.h"

namespace nyb {
namespace {

constexpr uint64_t kMaxBytes = uint64_t{1} << 63;

// a * b, refused beyond 2^63 (so that sums of two such sizes still fit)
uint64_t times(uint64_t a, uint64_t b) {
  if (b != 0 && a > kMaxBytes / b)
    throw Error("a tensor's size " + std::to_string(a) + " x " + std::to_string(b) + " does not fit in 63 bits");
  return a * b;
}

uint64_t blocks_of(TType t, uint64_t cols) {
  if (cols % kBlockCols != 0)
    throw Error(std::string(ttype_name(t)) + " has blocks of 256 columns, of which " + std::to_string(cols) +
                " columns are no whole number");
  return cols / kBlockCols;
}

float half_at(const uint8_t* p, uint64_t r) { return f16_to_f32(get_le<uint16_t>(p + 2 * r)); }

int nibble(const uint8_t* group, uint64_t r, uint64_t j) { return group[nibble_at(r, j)] >> nibble_shift(j) & 15; }

// The groups of a row of blocks: f(block, group, columns from).
template <class F>
void block_groups(const uint8_t* panel, uint64_t cols, size_t block_bytes, size_t head_bytes, size_t group_bytes, const F& f) {
  for (uint64_t g = 0; g < cols / kGroup; g++) {
    const uint8_t* block = panel + g / kBlockGroups * block_bytes;
    f(block, block + head_bytes + g % kBlockGroups * group_bytes, g * kGroup);
  }
}

void q4k_row(const uint8_t* panel, uint64_t cols, uint64_t r, float* out) {
  block_groups(panel, cols, kQ4kBlockBytes, kQ4kHeadBytes, kQ4kGroupBytes,
               [&](const uint8_t* block, const uint8_t* group, uint64_t from) {
                 const float scale = half_at(block, r) * static_cast<float>(group[kQ4kScaleAt + r]);
                 const float least = half_at(block + 2 * kPanelRows, r) * static_cast<float>(group[kQ4kMinAt + r]);
                 for (uint64_t j = 0; j < kGroup; j++) out[from + j] = static_cast<float>(nibble(group, r, j)) * scale - least;
               });
}

void q6k_row(const uint8_t* panel, uint64_t cols, uint64_t r, float* out) {
  block_groups(panel, cols, kQ6kBlockBytes, kQ6kHeadBytes, kQ6kGroupBytes,
               [&](const uint8_t* block, const uint8_t* group, uint64_t from) {
                 for (uint64_t j = 0; j < kGroup; j++) {
                   const auto sc = static_cast<int8_t>(group[kQ6kScaleAt + j / 16 * kPanelRows + r]);
                   const int high = group[q6_high_at(r, j)] >> q6_high_shift(j) & 3;
                   const int q = (nibble(group, r, j) | high << 4) - 32;
                   out[from + j] = static_cast<float>(q) * (half_at(block, r) * static_cast<float>(sc));
                 }
               });
}

}  // namespace

std::string_view ttype_name(TType t) {
  switch (t) {
    case TType::vec: return "vec";
    case TType::f32: return "f32";
    case TType::q8: return "q8";
    case TType::q4: return "q4";
    case TType::q80: return "q8_0";
    case TType::q4k: return "q4_K";
    case TType::q6k: return "q6_K";
  }
  return "unknown";
}

uint64_t panel_bytes(TType t, uint64_t cols) {
  switch (t) {
    case TType::vec: return times(cols, sizeof(float));
    case TType::f32: return times(cols, kPanelRows * sizeof(float));
    case TType::q8: return times(groups_of(cols), kQ8GroupBytes);
    case TType::q4: return times(groups_of(cols), kQ4GroupBytes);
    case TType::q80: return times(groups_of(cols), kQ80GroupBytes);
    case TType::q4k: return times(blocks_of(t, cols), kQ4kBlockBytes);
    case TType::q6k: return times(blocks_of(t, cols), kQ6kBlockBytes);
  }
  throw Error("tensor type " + std::to_string(static_cast<uint32_t>(t)) + " is unknown");
}

uint64_t tensor_bytes(TType t, uint64_t rows, uint64_t cols) {
  if (t == TType::vec) return times(rows, panel_bytes(t, cols));
  const uint64_t panels = panels_of(rows);
  const uint64_t body = times(panels, panel_bytes(t, cols));
  const uint64_t scales = t == TType::q8 ? times(panels, kPanelRows * sizeof(float)) : 0;
  if (body > kMaxBytes - scales) throw Error("a tensor of " + std::to_string(rows) + " rows does not fit in 63 bits");
  return body + scales;
}

void panel_row(TType type, const uint8_t* panel, const float* scales, uint64_t cols, uint64_t r, float* out) {
  switch (type) {
    case TType::f32:
      for (uint64_t k = 0; k < cols; k++) std::memcpy(out + k, panel + (k * kPanelRows + r) * sizeof(float), sizeof(float));
      break;
    case TType::q8:
      for (uint64_t k = 0; k < cols; k++) {
        const auto q = static_cast<int8_t>(panel[k / kGroup * kQ8GroupBytes + int8_at(r, k % kGroup)]);
        out[k] = static_cast<float>(q) * scales[r];
      }
      break;
    case TType::q80:
      for (uint64_t k = 0; k < cols; k++) {
        const uint8_t* group = panel + k / kGroup * kQ80GroupBytes;
        out[k] = static_cast<float>(static_cast<int8_t>(group[int8_at(r, k % kGroup)])) * half_at(group + kQ8GroupBytes, r);
      }
      break;
    case TType::q4:
      for (uint64_t k = 0; k < cols; k++) {
        const uint8_t* group = panel + k / kGroup * kQ4GroupBytes;
        out[k] = static_cast<float>(nibble(group, r, k % kGroup) - 8) * half_at(group + kQ4NibbleBytes, r);
      }
      break;
    case TType::q4k: q4k_row(panel, cols, r, out); break;
    case TType::q6k: q6k_row(panel, cols, r, out); break;
    case TType::vec: break;
  }
}

void tensor_row(const Tensor& t, uint64_t row, float* out) {
  if (t.type == TType::vec) {
    std::memcpy(out, t.data + row * t.cols * sizeof(float), t.cols * sizeof(float));
    return;
  }
  const uint64_t p = row / kPanelRows;
  const float* scales = t.type == TType::q8 ? t.row_scale() + p * kPanelRows : nullptr;
  panel_row(t.type, t.panel(p), scales, t.cols, row % kPanelRows, out);
}

}  // namespace nyb
