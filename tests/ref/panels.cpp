#include "ref/panels.h"

#include <cstring>

namespace nyb::test {

std::vector<int8_t> panels_q8(const std::vector<int8_t>& q, size_t rows, size_t groups) {
  std::vector<int8_t> out;
  out.reserve(q.size());
  for (size_t panel = 0; panel < rows / 16; ++panel)
    for (size_t piece = 0; piece < 8 * groups; ++piece)
      for (size_t r = 0; r < 16; ++r)
        for (size_t b = 0; b < 4; ++b) out.push_back(q[(16 * panel + r) * 32 * groups + 4 * piece + b]);
  return out;
}

std::vector<uint8_t> panels_q4(const std::vector<int8_t>& q, const std::vector<uint16_t>& scales, size_t rows, size_t groups) {
  std::vector<uint8_t> out;
  out.reserve(rows / 16 * groups * 288);
  for (size_t panel = 0; panel < rows / 16; ++panel) {
    for (size_t g = 0; g < groups; ++g) {
      for (size_t piece = 0; piece < 4; ++piece) {
        for (size_t r = 0; r < 16; ++r) {
          const int8_t* row = q.data() + (16 * panel + r) * 32 * groups + 32 * g;
          for (size_t b = 0; b < 4; ++b)
            out.push_back(static_cast<uint8_t>((row[4 * piece + b] + 8) + 16 * (row[16 + 4 * piece + b] + 8)));
        }
      }
      for (size_t r = 0; r < 16; ++r) {
        const uint16_t scale = scales[(16 * panel + r) * groups + g];
        out.push_back(static_cast<uint8_t>(scale & 255));
        out.push_back(static_cast<uint8_t>(scale >> 8));
      }
    }
  }
  return out;
}

std::vector<float> panels_f32(const std::vector<float>& w, size_t rows, size_t cols) {
  std::vector<float> out;
  out.reserve(w.size());
  for (size_t panel = 0; panel < rows / 16; ++panel)
    for (size_t k = 0; k < cols; ++k)
      for (size_t r = 0; r < 16; ++r) out.push_back(w[(16 * panel + r) * cols + k]);
  return out;
}

QxGroup group_of(const int8_t (&q)[32], float scale) {
  QxGroup g = {};
  std::memcpy(g.q, q, sizeof q);
  for (size_t i = 0; i < 32; ++i) {
    g.sum += q[i];
    if (i >= 16) g.sum_hi += q[i];
  }
  g.scale = scale;
  g.xsum = static_cast<float>(g.sum) * scale;
  return g;
}

}  // namespace nyb::test
