#include "kern/cases_panels.h"

#include <algorithm>

#include "kern/f16.h"

namespace nyb::test {
namespace {

float scale_of(KernRun& run, Kind kind) {
  if (kind == Kind::zero) return 0.0f;
  if (kind == Kind::outlier && run.below(5) == 0) return 0.0f;  // a zero group between others
  const uint32_t bits = std::bit_cast<uint32_t>(run.number(kind)) & 0x7FFFFFFF;
  return std::bit_cast<float>(bits);
}

void set_q(QxGroup& g) {  // what follows from q and scale
  g.sum = g.sum_hi = 0;
  for (int i = 0; i < 32; i++) {
    g.sum += g.q[i];
    if (i >= 16) g.sum_hi += g.q[i];
  }
  g.xsum = float(g.sum) * g.scale;
}

std::vector<QxGroup> activations(KernRun& run, size_t groups, Kind kind) {
  std::vector<QxGroup> x(groups);
  const int same = int(run.below(3));  // extreme: all 127, all -127, either
  for (QxGroup& g : x) {
    g.scale = scale_of(run, kind);
    for (int8_t& q : g.q) {
      q = int8_t(int(run.below(255)) - 127);
      if (kind == Kind::extreme) q = same == 0 || (same == 2 && run.below(2)) ? 127 : -127;
      if (g.scale == 0.0f) q = 0;
    }
    set_q(g);
  }
  return x;
}

// Group 0 leaves a speck in every row's sum; group 1 adds a product exactly in the middle between two floats, so that the sum
// rounds by the sign of the speck. The other groups are zero.
struct HalfwayGroups {
  std::vector<QxGroup> x;
  uint32_t middle;  // the scale of group 1: odd, 13 bits
};
HalfwayGroups halfway_activations(KernRun& run, size_t groups) {
  HalfwayGroups h{std::vector<QxGroup>(groups), 5001 + 2 * uint32_t(run.below(1595))};
  if (groups < 2) return h;
  QxGroup &speck = h.x[0], &g = h.x[1];
  speck.q[0] = 1;
  speck.scale = 0x1p-70f;
  for (int i = 0; i < 8; i++) g.q[i] = 127;
  g.q[8] = g.q[24] = 16;
  g.q[9] = g.q[10] = g.q[25] = 1;
  g.scale = float(h.middle);
  set_q(speck);
  set_q(g);
  return h;
}

// The weights of one row for it, none above 7: set(group, column, weight). Their sum with q times `middle` has 25 bits, the last
// set.
template <class Set>
void halfway_row(KernRun& run, const HalfwayGroups& h, const Set& set) {
  if (h.x.size() < 2) return;
  set(0, 0, run.below(2) ? 1 : -1);
  const uint32_t least = (1u << 24) / h.middle + 1;
  int rest = int((least + uint32_t(run.below(7100 - least))) | 1);
  for (const size_t col : {0, 1, 2, 3, 4, 5, 6, 7, 8, 24, 9, 10, 25}) {
    const int part = std::min(rest / h.x[1].q[col], 7);
    set(1, col, part);
    rest -= part * h.x[1].q[col];
  }
}

void set_f16(uint8_t* at, size_t row, uint16_t h) { memcpy(at + 2 * row, &h, 2); }
void set_one(uint8_t* at) {
  for (size_t r = 0; r < 16; r++) set_f16(at, r, 0x3C00);
}
void fill_f16(KernRun& run, uint8_t* at, Kind kind) {
  for (size_t r = 0; r < 16; r++) set_f16(at, r, run.f16(kind));
}
// n bytes of any value; extreme: all of them low, or all high (`same` 0 and 1), or either.
void fill_bytes(KernRun& run, uint8_t* at, size_t n, Kind kind, size_t same, uint8_t low, uint8_t high) {
  for (size_t i = 0; i < n; i++) {
    at[i] = uint8_t(run.bits() >> 20);
    if (kind == Kind::extreme) at[i] = same == 0 || (same == 2 && run.below(2)) ? low : high;
  }
}
void set_nibble(uint8_t* group, size_t row, size_t col, int n) {
  uint8_t& b = group[(col % 16 / 4 * 16 + row) * 4 + col % 4];
  b = col < 16 ? uint8_t((b & 0xF0) | n) : uint8_t((b & 0x0F) | n << 4);
}

}  // namespace

const Panels kQ8 = {1, 512, [](KernRun& run, uint8_t* u, Kind kind) { fill_bytes(run, u, 512, kind, run.below(3), 0x80, 0x7F); },
                    [](uint8_t*) {},
                    [](uint8_t* u, size_t, size_t row, size_t col, int v) { u[(col / 4 * 16 + row) * 4 + col % 4] = uint8_t(v); }};

const Panels kQ4 = {1, 288,
                    [](KernRun& run, uint8_t* u, Kind kind) {
                      fill_bytes(run, u, 256, kind, run.below(3), 0, 0xFF);
                      fill_f16(run, u + 256, kind);
                    },
                    [](uint8_t* u) {
                      memset(u, 0x88, 256);
                      set_one(u + 256);
                    },
                    [](uint8_t* u, size_t, size_t row, size_t col, int v) { set_nibble(u, row, col, v + 8); }};

const Panels kQ80 = {1, 544,
                     [](KernRun& run, uint8_t* u, Kind kind) {
                       fill_bytes(run, u, 512, kind, run.below(3), 0x80, 0x7F);
                       fill_f16(run, u + 512, kind);
                     },
                     [](uint8_t* u) { set_one(u + 512); },
                     [](uint8_t* u, size_t, size_t row, size_t col, int v) { u[(col / 4 * 16 + row) * 4 + col % 4] = uint8_t(v); }};

// Scales and minima have six bits; the kernel takes eight, which `wide` uses.
const Panels kQ4k = {8, 2368,
                     [](KernRun& run, uint8_t* u, Kind kind) {
                       fill_f16(run, u, kind);
                       fill_f16(run, u + 32, kind);
                       for (uint8_t* g = u + 64; g < u + 2368; g += 288) {
                         fill_bytes(run, g, 256, kind, run.below(3), 0, 0xFF);
                         fill_bytes(run, g + 256, 32, kind, run.below(3), 0, 63);
                         for (size_t i = 256; i < 288 && kind != Kind::wide; i++) g[i] &= 63;
                       }
                     },
                     [](uint8_t* u) {
                       set_one(u);
                       set_one(u + 32);
                       for (uint8_t* g = u + 64; g < u + 2368; g += 288) memset(g + 256, 1, 16);
                     },
                     [](uint8_t* u, size_t group, size_t row, size_t col, int v) {
                       uint8_t* g = u + 64 + 288 * group;
                       if (v < 0) {
                         g[272 + row] =
                             uint8_t(-v);  // there is no such weight; the speck's group has one q, so the minimum does it
                       } else {
                         set_nibble(g, row, col, v);
                       }
                     }};

const Panels kQ6k = {8, 3360,
                     [](KernRun& run, uint8_t* u, Kind kind) {
                       fill_f16(run, u, kind);
                       for (uint8_t* g = u + 32; g < u + 3360; g += 416) {
                         fill_bytes(run, g, 384, kind, run.below(3), 0, 0xFF);
                         fill_bytes(run, g + 384, 32, kind, run.below(3), 0x80, 0x7F);
                       }
                     },
                     [](uint8_t* u) {
                       set_one(u);
                       for (uint8_t* g = u + 32; g < u + 3360; g += 416) {
                         memset(g + 256, 0xAA, 128);
                         memset(g + 384, 1, 32);
                       }
                     },
                     [](uint8_t* u, size_t group, size_t row, size_t col, int v) {
                       uint8_t* g = u + 32 + 416 * group;
                       const int n = v + 32, shift = col % 8 < 4 ? (col < 16 ? 4 : 6) : (col < 16 ? 2 : 0);
                       set_nibble(g, row, col, n & 15);
                       uint8_t& b = g[256 + (col % 16 / 8 * 16 + row) * 4 + col % 4];
                       b = uint8_t((b & ~(3 << shift)) | n >> 4 << shift);
                     }};

PanelInput panel_input(KernRun& run, const Panels& type, size_t groups, size_t panels, size_t tokens, Kind kind) {
  const size_t units = groups / type.unit_groups;
  PanelInput in{std::vector<uint8_t>(type.unit_bytes * units * panels), {}, {}};
  if (kind == Kind::halfway) {
    const HalfwayGroups h = halfway_activations(run, groups);
    for (size_t at = 0; at < in.w.size(); at += type.unit_bytes) type.zero(in.w.data() + at);
    for (size_t row = 0; row < 16 * panels; row++)
      halfway_row(run, h, [&](size_t group, size_t col, int v) {
        type.set(in.w.data() + type.unit_bytes * (units * (row / 16) + group / type.unit_groups), group % type.unit_groups,
                 row % 16, col, v);
      });
    in.row_scale.assign(16 * panels, 1.0f);
    for (size_t t = 0; t < tokens; t++) in.x.insert(in.x.end(), h.x.begin(), h.x.end());
  } else {
    for (size_t at = 0; at < in.w.size(); at += type.unit_bytes) type.fill(run, in.w.data() + at, kind);
    in.row_scale = run.floats(16 * panels, kind);
    in.x = activations(run, groups * tokens, kind);
  }
  return in;
}

FloatInput float_input(KernRun& run, size_t cols, size_t panels, size_t tokens, Kind kind) {
  FloatInput in{run.floats(16 * cols * panels, kind), run.floats(cols * tokens, kind)};
  if (kind != Kind::halfway) return in;
  std::fill(in.w.begin(), in.w.end(), 0.0f);
  for (size_t k = 0; k + 1 < cols; k += 2) {
    const Halfway h = halfway(run);
    for (size_t t = 0; t < tokens; t++) {
      in.x[t * cols + k] = h.speck_a;
      in.x[t * cols + k + 1] = h.a;
    }
    for (size_t row = k / 2 % 16; row < 16 * panels; row += 16) {  // each row has its pair of columns
      in.w[(row / 16 * cols + k) * 16 + row % 16] = run.below(2) ? h.speck_b : -h.speck_b;
      in.w[(row / 16 * cols + k + 1) * 16 + row % 16] = h.b;
    }
  }
  return in;
}

}  // namespace nyb::test
