// panels.h - lays plain row-major matrices out in panels of sixteen rows, by the byte diagrams of docs/kernels.md, for the tests.
#pragma once
#include <cstdint>
#include <vector>

#include "kern/kern.h"
#include "ref/bits.h"

namespace nyb::test {

// q[rows][32 * groups], rows a multiple of 16, values -128..127
std::vector<int8_t> panels_q8(const std::vector<int8_t>& q, size_t rows, size_t groups);
// q as above with values -8..7, and f16 scales [rows][groups]
std::vector<uint8_t> panels_q4(const std::vector<int8_t>& q, const std::vector<uint16_t>& scales, size_t rows, size_t groups);
// q and scales as for int4, values -128..127
std::vector<uint8_t> panels_q80(const std::vector<int8_t>& q, const std::vector<uint16_t>& scales, size_t rows, size_t groups);

// Q4_K and Q6_K: what a matrix of [rows][32 * groups] holds, rows a multiple of 16, groups of 8
struct BlocksQ4k {
  std::vector<int8_t> n;            // 0..15
  std::vector<uint16_t> d, dmin;    // f16 [rows][groups / 8]
  std::vector<uint8_t> scale, min;  // [rows][groups]
};
struct BlocksQ6k {
  std::vector<int8_t> q;      // -32..31
  std::vector<uint16_t> d;    // f16 [rows][groups / 8]
  std::vector<int8_t> scale;  // [rows][2 * groups]
};
std::vector<uint8_t> panels_q4k(const BlocksQ4k& m, size_t rows, size_t groups);
std::vector<uint8_t> panels_q6k(const BlocksQ6k& m, size_t rows, size_t groups);

// w[rows][cols]
std::vector<float> panels_f32(const std::vector<float>& w, size_t rows, size_t cols);

std::vector<int8_t> random_ints(Random& rng, size_t n, int low, int high);
// Groups of any q with this scale, or with scales of their own where it is 0.
std::vector<QxGroup> random_groups(Random& rng, size_t groups, float scale);

// A group of activations with these values, its sums filled in.
QxGroup group_of(const int8_t (&q)[32], float scale);

}  // namespace nyb::test
