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

namespace {

void push_halves(std::vector<uint8_t>& out, const std::vector<uint16_t>& h, size_t first_row, size_t per_row, size_t column) {
  for (size_t r = 0; r < 16; ++r) {
    const uint16_t v = h[(first_row + r) * per_row + column];
    out.push_back(static_cast<uint8_t>(v & 255));
    out.push_back(static_cast<uint8_t>(v >> 8));
  }
}

// four pieces: the low four bits of columns 4 * piece + b, those of 16 columns on above them; n(row, column)
template <class N>
void push_nibbles(std::vector<uint8_t>& out, const N& n) {
  for (size_t piece = 0; piece < 4; ++piece)
    for (size_t r = 0; r < 16; ++r)
      for (size_t b = 0; b < 4; ++b)
        out.push_back(static_cast<uint8_t>(n(r, 4 * piece + b) % 16 + 16 * (n(r, 16 + 4 * piece + b) % 16)));
}

}  // namespace

std::vector<uint8_t> panels_q80(const std::vector<int8_t>& q, const std::vector<uint16_t>& scales, size_t rows, size_t groups) {
  const std::vector<int8_t> bytes = panels_q8(q, rows, groups);
  std::vector<uint8_t> out;
  for (size_t panel = 0; panel < rows / 16; ++panel) {
    for (size_t g = 0; g < groups; ++g) {
      const auto from = bytes.begin() + static_cast<ptrdiff_t>((panel * groups + g) * 512);
      out.insert(out.end(), from, from + 512);
      push_halves(out, scales, 16 * panel, groups, g);
    }
  }
  return out;
}

std::vector<uint8_t> panels_q4k(const BlocksQ4k& m, size_t rows, size_t groups) {
  std::vector<uint8_t> out;
  for (size_t first = 0; first < rows; first += 16) {
    for (size_t g = 0; g < groups; ++g) {
      if (g % 8 == 0) {
        push_halves(out, m.d, first, groups / 8, g / 8);
        push_halves(out, m.dmin, first, groups / 8, g / 8);
      }
      push_nibbles(out, [&](size_t r, size_t col) { return m.n[((first + r) * groups + g) * 32 + col]; });
      for (size_t r = 0; r < 16; ++r) out.push_back(m.scale[(first + r) * groups + g]);
      for (size_t r = 0; r < 16; ++r) out.push_back(m.min[(first + r) * groups + g]);
    }
  }
  return out;
}

std::vector<uint8_t> panels_q6k(const BlocksQ6k& m, size_t rows, size_t groups) {
  std::vector<uint8_t> out;
  for (size_t first = 0; first < rows; first += 16) {
    for (size_t g = 0; g < groups; ++g) {
      if (g % 8 == 0) push_halves(out, m.d, first, groups / 8, g / 8);
      const auto n = [&](size_t r, size_t col) { return m.q[((first + r) * groups + g) * 32 + col] + 32; };
      push_nibbles(out, n);
      for (size_t piece = 0; piece < 2; ++piece)
        for (size_t r = 0; r < 16; ++r)
          for (size_t b = 8 * piece; b < 8 * piece + 4; ++b)
            out.push_back(
                static_cast<uint8_t>(n(r, b + 20) / 16 + 4 * (n(r, b + 4) / 16) + 16 * (n(r, b) / 16) + 64 * (n(r, b + 16) / 16)));
      for (size_t half = 0; half < 2; ++half)
        for (size_t r = 0; r < 16; ++r) out.push_back(static_cast<uint8_t>(m.scale[((first + r) * groups + g) * 2 + half]));
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

std::vector<int8_t> random_ints(Random& rng, size_t n, int low, int high) {
  std::vector<int8_t> out(n);
  for (int8_t& v : out) v = static_cast<int8_t>(low + static_cast<int>(rng.word() % static_cast<unsigned>(high - low + 1)));
  return out;
}

std::vector<QxGroup> random_groups(Random& rng, size_t groups, float scale) {
  std::vector<QxGroup> out;
  for (size_t g = 0; g < groups; ++g) {
    int8_t q[32];
    const std::vector<int8_t> v = random_ints(rng, 32, -127, 127);
    std::memcpy(q, v.data(), 32);
    out.push_back(group_of(q, scale != 0 ? scale : std::fabs(rng.normal()) * 0.01f + 1e-4f));
  }
  return out;
}

}  // namespace nyb::test
