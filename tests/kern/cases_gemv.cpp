// Products of panels with a vector.
#include <algorithm>

#include "kern/cases.h"
#include "kern/f16.h"
#include "kern/ref.h"

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

void check_q8(KernRun& run, const std::vector<int8_t>& w, const std::vector<float>& row_scale, const std::vector<QxGroup>& x,
              size_t panels, Kind kind) {
  const size_t groups = x.size();
  std::vector<float> want(16 * panels);
  ref::gemv_q8(w.data(), row_scale.data(), x.data(), want.data(), groups, panels);
  run.open({{"groups", groups}, {"panels", panels}}, kind);
  const int8_t* pw = run.in(w);
  const float* ps = run.in(row_scale);
  const QxGroup* px = run.in(x);
  float* y = run.out<float>(16 * panels);
  run.call(ref::gemv_q8, pw, ps, px, y, groups, panels);
  run.expect(y, want, "y");
}

void q8_halfway(KernRun& run, size_t groups, size_t panels) {
  const HalfwayGroups h = halfway_activations(run, groups);
  std::vector<int8_t> w(512 * groups * panels);
  for (size_t row = 0; row < 16 * panels; row++) {
    int8_t* panel = w.data() + 512 * groups * (row / 16);
    halfway_row(run, h,
                [&](size_t group, size_t col, int v) { panel[512 * group + (col / 4 * 16 + row % 16) * 4 + col % 4] = int8_t(v); });
  }
  check_q8(run, w, std::vector<float>(16 * panels, 1.0f), h.x, panels, Kind::halfway);
}

void gemv_q8(KernRun& run, const Shape& s, Kind kind) {
  const size_t groups = s[0], panels = s[1];
  if (kind == Kind::halfway) return q8_halfway(run, groups, panels);
  std::vector<int8_t> w(512 * groups * panels);
  const size_t same = run.below(3);
  for (int8_t& b : w) {
    b = int8_t(run.bits() >> 20);
    if (kind == Kind::extreme) b = same == 0 || (same == 2 && run.below(2)) ? -128 : 127;
  }
  const auto x = activations(run, groups, kind);
  check_q8(run, w, run.floats(16 * panels, kind), x, panels, kind);
}

// Panels that hold all their scales themselves: their bytes in units of a group, or of a block of eight.
struct Panels {
  void (*ref)(const void*, const QxGroup*, float*, size_t, size_t);
  size_t unit_groups, unit_bytes;
  void (*fill)(KernRun&, uint8_t* unit, Kind);
  // For halfway sums: zeros with scales of 1; then, within the unit, single weights of -1 to 7.
  void (*zero)(uint8_t* unit);
  void (*set)(uint8_t* unit, size_t group, size_t row, size_t col, int v);
};

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

constexpr Panels kQ4 = {ref::gemv_q4,
                        1,
                        288,
                        [](KernRun& run, uint8_t* u, Kind kind) {
                          fill_bytes(run, u, 256, kind, run.below(3), 0, 0xFF);
                          fill_f16(run, u + 256, kind);
                        },
                        [](uint8_t* u) {
                          memset(u, 0x88, 256);
                          set_one(u + 256);
                        },
                        [](uint8_t* u, size_t, size_t row, size_t col, int v) { set_nibble(u, row, col, v + 8); }};

constexpr Panels kQ80 = {
    ref::gemv_q80,
    1,
    544,
    [](KernRun& run, uint8_t* u, Kind kind) {
      fill_bytes(run, u, 512, kind, run.below(3), 0x80, 0x7F);
      fill_f16(run, u + 512, kind);
    },
    [](uint8_t* u) { set_one(u + 512); },
    [](uint8_t* u, size_t, size_t row, size_t col, int v) { u[(col / 4 * 16 + row) * 4 + col % 4] = uint8_t(v); }};

// Scales and minima have six bits; the kernel takes eight, which `wide` uses.
constexpr Panels kQ4k = {ref::gemv_q4k,
                         8,
                         2368,
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

constexpr Panels kQ6k = {ref::gemv_q6k,
                         8,
                         3360,
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

template <const Panels& P>
void gemv_panels(KernRun& run, const Shape& s, Kind kind) {
  const size_t groups = s[0], panels = s[1], units = groups / P.unit_groups;
  std::vector<uint8_t> w(P.unit_bytes * units * panels);
  std::vector<QxGroup> x;
  if (kind == Kind::halfway) {
    const HalfwayGroups h = halfway_activations(run, groups);
    for (size_t at = 0; at < w.size(); at += P.unit_bytes) P.zero(w.data() + at);
    for (size_t row = 0; row < 16 * panels; row++)
      halfway_row(run, h, [&](size_t group, size_t col, int v) {
        P.set(w.data() + P.unit_bytes * (units * (row / 16) + group / P.unit_groups), group % P.unit_groups, row % 16, col, v);
      });
    x = h.x;
  } else {
    for (size_t at = 0; at < w.size(); at += P.unit_bytes) P.fill(run, w.data() + at, kind);
    x = activations(run, groups, kind);
  }
  std::vector<float> want(16 * panels);
  P.ref(w.data(), x.data(), want.data(), groups, panels);
  run.open({{"groups", groups}, {"panels", panels}}, kind);
  const uint8_t* pw = run.in(w);
  const QxGroup* px = run.in(x);
  float* y = run.out<float>(16 * panels);
  run.call(P.ref, pw, px, y, groups, panels);
  run.expect(y, want, "y");
}

void gemv_f32(KernRun& run, const Shape& s, Kind kind) {
  const size_t cols = s[0], panels = s[1];
  auto w = run.floats(16 * cols * panels, kind), x = run.floats(cols, kind);
  if (kind == Kind::halfway) {
    std::fill(w.begin(), w.end(), 0.0f);
    for (size_t k = 0; k + 1 < cols; k += 2) {
      const Halfway h = halfway(run);
      x[k] = h.speck_a;
      x[k + 1] = h.a;
      for (size_t row = k / 2 % 16; row < 16 * panels; row += 16) {  // each row has its pair of columns
        w[(row / 16 * cols + k) * 16 + row % 16] = run.below(2) ? h.speck_b : -h.speck_b;
        w[(row / 16 * cols + k + 1) * 16 + row % 16] = h.b;
      }
    }
  }
  std::vector<float> want(16 * panels);
  ref::gemv_f32(w.data(), x.data(), want.data(), cols, panels);
  run.open({{"cols", cols}, {"panels", panels}}, kind);
  const float *pw = run.in(w), *px = run.in(x);
  float* y = run.out<float>(16 * panels);
  run.call(ref::gemv_f32, pw, px, y, cols, panels);
  run.expect(y, want, "y");
}

// Many panels, as a model has them; too many instructions for traps.
void q8_extra(KernRun& run) {
  if (!run.target().emulated) gemv_q8(run, {18, 100, 0}, Kind::normal);
}
template <const Panels& P>
void panels_extra(KernRun& run) {
  if (!run.target().emulated) gemv_panels<P>(run, {P.unit_groups == 8 ? 16 : 18, 100, 0}, Kind::normal);
}

}  // namespace

std::vector<KernelCase> gemv_cases() {
  using enum Kind;
  const std::vector<Kind> quantized = {normal, wide, tiny, large, zero, halfway, extreme, outlier};
  const auto shapes = grid(range(0, 9, {24}), range(0, 5)), few = grid({2, 3}, {3});
  const auto blocks = grid({0, 8, 16}, range(0, 5)), few_blocks = grid({8}, {3});
  return {
      {"gemv_q8", shapes, few, quantized, gemv_q8, q8_extra},
      {"gemv_q4", shapes, few, quantized, gemv_panels<kQ4>, panels_extra<kQ4>},
      {"gemv_q80", shapes, few, quantized, gemv_panels<kQ80>, panels_extra<kQ80>},
      {"gemv_q4k", blocks, few_blocks, quantized, gemv_panels<kQ4k>, panels_extra<kQ4k>},
      {"gemv_q6k", blocks, few_blocks, quantized, gemv_panels<kQ6k>, panels_extra<kQ6k>},
      {"gemv_f32",
       grid(range(0, 40, {64, 100, 172, 256, 288}), range(0, 5)),
       grid({19}, {3}),
       {normal, wide, tiny, large, zero, halfway},
       gemv_f32,
       nullptr},
  };
}

}  // namespace nyb::test
