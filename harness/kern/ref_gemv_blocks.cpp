// ref_gemv_blocks.cpp - matrix-vector products over panels whose scales stand for blocks of 256 columns: Q4_K and Q6_K.
#include "kern/f16.h"
#include "kern/ref.h"
#include "kern/ref_mem.h"
#include "kern/ref_scalar.h"

namespace nyb::ref {
namespace {

constexpr size_t kRows = 16;
constexpr size_t kHalf = 16;  // columns of half a group
constexpr size_t kGroups = 8;

float half_of(const uint8_t* halves, size_t r) { return f16_to_f32(get(reinterpret_cast<const uint16_t*>(halves), r)); }

// Four bits of column i of half h (0: columns 0..15 of the group, 1: 16..31): nibbles are [piece of 4][row][4], half 1 above.
int32_t nibble(const uint8_t* group, size_t r, size_t h, size_t i) {
  return group[(i / 4 * kRows + r) * 4 + i % 4] >> (4 * h) & 15;
}

// Two bits more: [piece of 2][row][4], a byte of which has column 8p + b in bits 4 and 5, and 8p + 4 + b in bits 2 and 3, of half
// 0; of half 1 in bits 6 and 7, and 0 and 1.
int32_t high_bits(const uint8_t* high, size_t r, size_t h, size_t i) {
  constexpr unsigned shift[2][2] = {{4, 2}, {6, 0}};
  return high[(i / 8 * kRows + r) * 4 + i % 4] >> shift[h][i / 4 % 2] & 3;
}

}  // namespace

// A block is f16 d[16], f16 dmin[16], then eight groups of 256 bytes of nibbles (0..15), u8 sc[16], u8 m[16].
void gemv_q4k(const void* w, const QxGroup* x, float* y, size_t groups, size_t panels) {
  const auto* block = static_cast<const uint8_t*>(w);
  for (size_t panel = 0; panel < panels; ++panel) {
    float acc[kRows] = {};
    for (size_t first = 0; first < groups; first += kGroups) {
      const uint8_t *d = block, *dmin = block + 2 * kRows, *group = block + 4 * kRows;
      for (size_t g = 0; g < kGroups; ++g, group += kRows * (kHalf + 2)) {
        const QxGroup in = get(x, first + g);
        const uint8_t *sc = group + kRows * kHalf, *m = sc + kRows;
        for (size_t r = 0; r < kRows; ++r) {
          int32_t sum = 0;
          for (size_t h = 0; h < 2; ++h)
            for (size_t i = 0; i < kHalf; ++i) sum += nibble(group, r, h, i) * in.q[kHalf * h + i];
          acc[r] = fma_once(static_cast<float>(sum), (half_of(d, r) * static_cast<float>(sc[r])) * in.scale, acc[r]);
          acc[r] = fma_once(-(half_of(dmin, r) * static_cast<float>(m[r])), in.xsum, acc[r]);
        }
      }
      block = group;
    }
    for (size_t r = 0; r < kRows; ++r) put(y, panel * kRows + r, acc[r]);
  }
}

// A block is f16 d[16], then eight groups of 256 bytes of low nibbles, 128 of high bits (together the weight plus 32), int8 scales
// of half 0 and of half 1, sixteen each.
void gemv_q6k(const void* w, const QxGroup* x, float* y, size_t groups, size_t panels) {
  const auto* block = static_cast<const uint8_t*>(w);
  for (size_t panel = 0; panel < panels; ++panel) {
    float acc[kRows] = {};
    for (size_t first = 0; first < groups; first += kGroups) {
      const uint8_t *d = block, *group = block + 2 * kRows;
      for (size_t g = 0; g < kGroups; ++g, group += kRows * (kHalf + kHalf / 2 + 2)) {
        const QxGroup in = get(x, first + g);
        const uint8_t *high = group + kRows * kHalf, *sc = high + kRows * kHalf / 2;
        for (size_t r = 0; r < kRows; ++r) {
          int32_t sum = 0;
          for (size_t h = 0; h < 2; ++h) {
            int32_t part = 0;
            for (size_t i = 0; i < kHalf; ++i)
              part += ((nibble(group, r, h, i) | high_bits(high, r, h, i) << 4) - 32) * in.q[kHalf * h + i];
            sum += static_cast<int8_t>(sc[kRows * h + r]) * part;
          }
          acc[r] = fma_once(static_cast<float>(sum), half_of(d, r) * in.scale, acc[r]);
        }
      }
      block = group;
    }
    for (size_t r = 0; r < kRows; ++r) put(y, panel * kRows + r, acc[r]);
  }
}

}  // namespace nyb::ref
