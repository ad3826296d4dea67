// panels.h - lays plain row-major matrices out in panels of sixteen rows, by the byte diagrams of docs/kernels.md, for the tests.
#pragma once
#include <cstdint>
#include <vector>

#include "kern/kern.h"

namespace nyb::test {

// q[rows][32 * groups], rows a multiple of 16, values -128..127
std::vector<int8_t> panels_q8(const std::vector<int8_t>& q, size_t rows, size_t groups);
// q as above with values -8..7, and f16 scales [rows][groups]
std::vector<uint8_t> panels_q4(const std::vector<int8_t>& q, const std::vector<uint16_t>& scales, size_t rows, size_t groups);
// w[rows][cols]
std::vector<float> panels_f32(const std::vector<float>& w, size_t rows, size_t cols);

// A group of activations with these values, its sums filled in.
QxGroup group_of(const int8_t (&q)[32], float scale);

}  // namespace nyb::test
