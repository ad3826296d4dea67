// repack.cpp - ggml's blocks, as ggml-common.h declares and ggml-quants.c reads them, one row after the other into panels.
#include "model/repack.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "kern/error.h"
#include "model/dequant.h"

namespace nyb {
namespace {

// {f16 d; int8 qs[32]}
void q80_block(const uint8_t* b, size_t r, uint8_t* group) {
  std::memcpy(group + kQ8GroupBytes + 2 * r, b, 2);
  for (size_t j = 0; j < kGroup; j++) group[int8_at(r, j)] = b[2 + j];
}

void q80_unblock(const uint8_t* group, size_t r, uint8_t* b) {
  std::memcpy(b, group + kQ8GroupBytes + 2 * r, 2);
  for (size_t j = 0; j < kGroup; j++) b[2 + j] = group[int8_at(r, j)];
}

// {f16 d; u8 qs[16]}, byte j: column j below, 16 + j above, which is the panel's byte too
void q40_block(const uint8_t* b, size_t r, uint8_t* group) {
  std::memcpy(group + kQ4NibbleBytes + 2 * r, b, 2);
  for (size_t j = 0; j < 16; j++) group[nibble_at(r, j)] = b[2 + j];
}

void q40_unblock(const uint8_t* group, size_t r, uint8_t* b) {
  std::memcpy(b, group + kQ4NibbleBytes + 2 * r, 2);
  for (size_t j = 0; j < 16; j++) b[2 + j] = group[nibble_at(r, j)];
}

// {f16 d, dmin; u8 scales[12]; u8 qs[128]}: 32 bytes for each two groups, the first in the low nibbles
void q4k_block(const uint8_t* b, size_t r, uint8_t* block) {
  std::memcpy(block + 2 * r, b, 2);
  std::memcpy(block + 2 * (kPanelRows + r), b + 2, 2);
  for (size_t g = 0; g < kBlockGroups; g++) {
    uint8_t* group = block + kQ4kHeadBytes + g * kQ4kGroupBytes;
    const GgmlScaleMin s = ggml_scale_min(b + 4, g);
    group[kQ4kScaleAt + r] = s.scale;
    group[kQ4kMinAt + r] = s.min;
    const uint8_t* q = b + 16 + g / 2 * kGroup;
    const unsigned shift = g % 2 * 4;
    for (size_t j = 0; j < 16; j++)
      group[nibble_at(r, j)] = static_cast<uint8_t>((q[j] >> shift & 15) | (q[16 + j] >> shift & 15) << 4);
  }
}

// Twelve bytes of scales as ggml_scale_min reads them.
void q4k_unblock(const uint8_t* block, size_t r, uint8_t* b) {
  std::memset(b, 0, 144);
  std::memcpy(b, block + 2 * r, 2);
  std::memcpy(b + 2, block + 2 * (kPanelRows + r), 2);
  for (size_t g = 0; g < kBlockGroups; g++) {
    const uint8_t* group = block + kQ4kHeadBytes + g * kQ4kGroupBytes;
    const unsigned scale = group[kQ4kScaleAt + r], min = group[kQ4kMinAt + r];
    uint8_t* s = b + 4;
    if (g < 4) {
      s[g] |= static_cast<uint8_t>(scale);
      s[g + 4] |= static_cast<uint8_t>(min);
    } else {
      s[g - 4] |= static_cast<uint8_t>(scale >> 4 << 6);
      s[g] |= static_cast<uint8_t>(min >> 4 << 6);
      s[g + 4] |= static_cast<uint8_t>((scale & 15) | (min & 15) << 4);
    }
    uint8_t* q = b + 16 + g / 2 * kGroup;
    const unsigned shift = g % 2 * 4;
    for (size_t j = 0; j < kGroup; j++) q[j] |= static_cast<uint8_t>((group[nibble_at(r, j)] >> nibble_shift(j) & 15) << shift);
  }
}

// {u8 ql[128], qh[64]; int8 scales[16]; f16 d}: of each 128 columns, the first 64 in the low nibbles of 64 bytes of ql, the others
// in the high ones; the high bits of columns l, 32 + l, 64 + l and 96 + l in byte l of 32 of qh, from below
void q6k_block(const uint8_t* b, size_t r, uint8_t* block) {
  const uint8_t *ql = b, *qh = b + 128, *scales = b + 192;
  std::memcpy(block + 2 * r, b + 208, 2);
  for (size_t g = 0; g < kBlockGroups; g++) {
    uint8_t* group = block + kQ6kHeadBytes + g * kQ6kGroupBytes;
    group[kQ6kScaleAt + r] = scales[2 * g];
    group[kQ6kScaleAt + kPanelRows + r] = scales[2 * g + 1];
    const uint8_t* low = ql + g / 4 * 64 + g % 2 * kGroup;
    const uint8_t* high = qh + g / 4 * kGroup;
    for (size_t j = 0; j < kGroup; j++) {  // the panel was zeros
      group[nibble_at(r, j)] |= static_cast<uint8_t>((low[j] >> g % 4 / 2 * 4 & 15) << nibble_shift(j));
      group[q6_high_at(r, j)] |= static_cast<uint8_t>((high[j] >> g % 4 * 2 & 3) << q6_high_shift(j));
    }
  }
}

void q6k_unblock(const uint8_t* block, size_t r, uint8_t* b) {
  std::memset(b, 0, 192);
  std::memcpy(b + 208, block + 2 * r, 2);
  for (size_t g = 0; g < kBlockGroups; g++) {
    const uint8_t* group = block + kQ6kHeadBytes + g * kQ6kGroupBytes;
    b[192 + 2 * g] = group[kQ6kScaleAt + r];
    b[192 + 2 * g + 1] = group[kQ6kScaleAt + kPanelRows + r];
    uint8_t* low = b + g / 4 * 64 + g % 2 * kGroup;
    uint8_t* high = b + 128 + g / 4 * kGroup;
    for (size_t j = 0; j < kGroup; j++) {
      low[j] |= static_cast<uint8_t>((group[nibble_at(r, j)] >> nibble_shift(j) & 15) << g % 4 / 2 * 4);
      high[j] |= static_cast<uint8_t>((group[q6_high_at(r, j)] >> q6_high_shift(j) & 3) << g % 4 * 2);
    }
  }
}

struct Blocks {
  TType type;
  uint8_t zero;        // what a block of zero weights has from zero_from to zero_to; zeros elsewhere
  size_t cols, bytes;  // of a block of ggml's
  size_t panel_bytes;  // sixteen rows of it
  void (*put)(const uint8_t* block, size_t r, uint8_t* at);
  void (*take)(const uint8_t* at, size_t r, uint8_t* block);
  size_t zero_from = 0, zero_to = 0;
};
constexpr Blocks kBlocks[] = {
    {TType::q80, 0, kGroup, 34, kQ80GroupBytes, q80_block, q80_unblock},
    {TType::q4, 0x88, kGroup, 18, kQ4GroupBytes, q40_block, q40_unblock, 2, 18},  // n = q + 8
    {TType::q4k, 0, kBlockCols, 144, kQ4kBlockBytes, q4k_block, q4k_unblock},
    {TType::q6k, 0xaa, kBlockCols, 210, kQ6kBlockBytes, q6k_block, q6k_unblock, 128, 192},  // n = q + 32
};

const Blocks& blocks_for(TType type, uint64_t cols) {
  for (const Blocks& b : kBlocks) {
    if (b.type != type) continue;
    if (cols % b.cols == 0) return b;
    throw Error("rows of " + std::to_string(cols) + " columns are no whole number of ggml's blocks of " + std::to_string(b.cols));
  }
  throw Error("no block of ggml's is repacked as " + std::string(ttype_name(type)));
}

}  // namespace

uint64_t ggml_row_bytes(TType type, uint64_t cols) {
  const Blocks& b = blocks_for(type, cols);
  return cols / b.cols * b.bytes;
}

void repack_panel(TType type, std::span<const uint8_t* const> rows, uint64_t cols, uint8_t* panel) {
  const Blocks& b = blocks_for(type, cols);
  std::vector<uint8_t> zero(b.bytes);
  std::fill(zero.begin() + static_cast<ptrdiff_t>(b.zero_from), zero.begin() + static_cast<ptrdiff_t>(b.zero_to), b.zero);
  std::memset(panel, 0, panel_bytes(type, cols));
  for (uint64_t i = 0; i < cols / b.cols; i++)
    for (size_t r = 0; r < kPanelRows; r++)
      b.put(r < rows.size() ? rows[r] + i * b.bytes : zero.data(), r, panel + i * b.panel_bytes);
}

void unpack_row(TType type, const uint8_t* panel, uint64_t cols, size_t r, uint8_t* row) {
  const Blocks& b = blocks_for(type, cols);
  for (uint64_t i = 0; i < cols / b.cols; i++) b.take(panel + i * b.panel_bytes, r, row + i * b.bytes);
}

}  // namespace nyb
