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

}  // namespace

std::string_view ttype_name(TType t) {
  switch (t) {
    case TType::vec: return "vec";
    case TType::f32: return "f32";
    case TType::q8: return "q8";
    case TType::q4: return "q4";
  }
  return "unknown";
}

uint64_t panel_bytes(TType t, uint64_t cols) {
  switch (t) {
    case TType::vec: return times(cols, sizeof(float));
    case TType::f32: return times(cols, kPanelRows * sizeof(float));
    case TType::q8: return times(groups_of(cols), kQ8GroupBytes);
    case TType::q4: return times(groups_of(cols), kQ4GroupBytes);
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
      // column 4c + b of a group lies at piece c, row r, byte b
      for (uint64_t k = 0; k < cols; k++) {
        const uint64_t g = k / kGroup, c = k % kGroup / 4, b = k % 4;
        const auto q = static_cast<int8_t>(panel[g * kQ8GroupBytes + c * 64 + r * 4 + b]);
        out[k] = static_cast<float>(q) * scales[r];
      }
      break;
    case TType::q4:
      for (uint64_t k = 0; k < cols; k++) {
        const uint8_t* group = panel + k / kGroup * kQ4GroupBytes;
        const uint64_t j = k % 16;  // columns j and 16 + j share a byte
        const uint8_t byte = group[j / 4 * 64 + r * 4 + j % 4];
        const int n = k % kGroup < 16 ? byte & 15 : byte >> 4;
        out[k] = static_cast<float>(n - 8) * f16_to_f32(get_le<uint16_t>(group + kQ4NibbleBytes + r * 2));
      }
      break;
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
