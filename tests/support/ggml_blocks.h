// ggml_blocks.h - ggml's blocks for the tests, by code of its own: a plain quantizer, rows of any bytes, and what a row says.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>
#include "model/tensor.h"

namespace nyb::test {

struct GgmlForm {
  size_t cols, bytes;  // of a block
};
GgmlForm ggml_form(TType type);  // q80, q4, q4k, q6k

// A row of floats, a multiple of a block, as blocks of q80, q4k or q6k. Every second scale of q6k is negative.
std::vector<uint8_t> ggml_row(TType type, const std::vector<float>& w);

// Blocks of any bytes but for their f16, which are finite: `count` of them, one after the other.
std::vector<uint8_t> ggml_random(TType type, size_t count, uint64_t seed);

// A row, column by column.
struct GgmlRow {
  struct Part {
    float d, dmin = 0;
    int sc = 1, m = 0;
  };
  std::vector<int> q;             // q4k: 0..15; the others: signed
  std::vector<Part> parts;        // of each 16 columns
  float value(size_t col) const;  // float(q) * (d * sc) - dmin * m
};
GgmlRow ggml_read(TType type, const uint8_t* row, size_t cols);

}  // namespace nyb::test
