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

void check_q4(KernRun& run, const std::vector<uint8_t>& w, const std::vector<QxGroup>& x, size_t panels, Kind kind) {
  const size_t groups = x.size();
  std::vector<float> want(16 * panels);
  ref::gemv_q4(w.data(), x.data(), want.data(), groups, panels);
  run.open({{"groups", groups}, {"panels", panels}}, kind);
  const uint8_t* pw = run.in(w);
  const QxGroup* px = run.in(x);
  float* y = run.out<float>(16 * panels);
  run.call(ref::gemv_q4, pw, px, y, groups, panels);
  run.expect(y, want, "y");
}

void set_f16(uint8_t* group, size_t row, uint16_t h) { memcpy(group + 256 + 2 * row, &h, 2); }

void q4_halfway(KernRun& run, size_t groups, size_t panels) {
  const HalfwayGroups h = halfway_activations(run, groups);
  std::vector<uint8_t> w(288 * groups * panels, 0x88);  // q 0
  for (size_t row = 0; row < 16 * panels; row++) {
    uint8_t* panel = w.data() + 288 * groups * (row / 16);
    for (size_t g = 0; g < groups; g++) set_f16(panel + 288 * g, row % 16, 0x3C00);
    halfway_row(run, h, [&](size_t group, size_t col, int v) {
      uint8_t& b = panel[288 * group + (col % 16 / 4 * 16 + row % 16) * 4 + col % 4];
      b = col < 16 ? uint8_t((b & 0xF0) | (v + 8)) : uint8_t((b & 0x0F) | (v + 8) << 4);
    });
  }
  check_q4(run, w, h.x, panels, Kind::halfway);
}

void gemv_q4(KernRun& run, const Shape& s, Kind kind) {
  const size_t groups = s[0], panels = s[1];
  if (kind == Kind::halfway) return q4_halfway(run, groups, panels);
  std::vector<uint8_t> w(288 * groups * panels);
  const size_t same = run.below(3);
  for (size_t at = 0; at < w.size(); at += 288) {
    for (size_t i = 0; i < 256; i++) {
      w[at + i] = uint8_t(run.bits() >> 20);
      if (kind == Kind::extreme) w[at + i] = same == 0 || (same == 2 && run.below(2)) ? 0 : 0xFF;
    }
    for (size_t r = 0; r < 16; r++) set_f16(w.data() + at, r, run.f16(kind));
  }
  check_q4(run, w, activations(run, groups, kind), panels, kind);
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
void q4_extra(KernRun& run) {
  if (!run.target().emulated) gemv_q4(run, {18, 100, 0}, Kind::normal);
}

}  // namespace

std::vector<KernelCase> gemv_cases() {
  using enum Kind;
  const std::vector<Kind> quantized = {normal, wide, tiny, large, zero, halfway, extreme, outlier};
  const auto shapes = grid(range(0, 9, {24}), range(0, 5)), few = grid({2, 3}, {3});
  return {
      {"gemv_q8", shapes, few, quantized, gemv_q8, q8_extra},
      {"gemv_q4", shapes, few, quantized, gemv_q4, q4_extra},
      {"gemv_f32",
       grid(range(0, 40, {64, 100, 172, 256, 288}), range(0, 5)),
       grid({19}, {3}),
       {normal, wide, tiny, large, zero, halfway},
       gemv_f32,
       nullptr},
  };
}

}  // namespace nyb::test
