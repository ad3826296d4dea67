// Element by element kernels: sums, RMSNorm, RoPE, conversion to f16, activations.
#include <cmath>

#include "kern/cases.h"
#include "kern/f16.h"
#include "kern/ref.h"

namespace nyb::test {
namespace {

void vec_add(KernRun& run, const Shape& s, Kind kind) {
  const size_t n = s[0];
  const auto a = run.floats(n, kind), b = run.floats(n, kind);
  run_pair(run, ref::vec_add, a, b, kind);
  std::vector<float> twice(n);
  ref::vec_add(a.data(), a.data(), twice.data(), n);
  run.open({{"n", n}, {"y is a and b", 1}}, kind);
  float* y = run.inout(a);
  run.call(ref::vec_add, y, y, y, n);
  run.expect(y, twice, "y");
}

void rmsnorm_of(KernRun& run, std::vector<float> x, Kind kind) {
  const size_t n = x.size();
  const auto w = run.floats(n, kind == Kind::large ? Kind::wide : kind);
  const float eps = run.below(2) ? 1e-5f : 1e-6f;
  std::vector<float> want(n);
  const uint32_t flag = ref::rmsnorm(x.data(), w.data(), want.data(), n, eps);
  run.open({{"n", n}}, kind);
  const float *px = run.in(x), *pw = run.in(w);
  float* y = run.out<float>(n);
  run.expect_value(run.call(ref::rmsnorm, px, pw, y, n, eps), flag, "flag");
  if (!flag) run.expect(y, want, "y");

  run.open({{"n", n}, {"y is x", 1}}, kind);
  y = run.inout(x);
  pw = run.in(w);
  run.expect_value(run.call(ref::rmsnorm, y, pw, y, n, eps), flag, "flag");
  if (!flag) run.expect(y, want, "y");
}

void rmsnorm(KernRun& run, const Shape& s, Kind kind) {
  auto x = run.floats(s[0], kind);
  if (kind == Kind::halfway) {  // x[i]^2 exactly between two floats, on a partial sum that holds a speck
    for (size_t i = 0; i < x.size(); i++) {
      x[i] = i % 32 < 16 ? std::ldexp(1.0f, -40) : std::ldexp(float(4097 + 2 * run.below(800)), -int(i % 3));
    }
  }
  rmsnorm_of(run, std::move(x), kind);
}

void rmsnorm_extra(KernRun& run) {
  for (const size_t n : {1, 2, 15, 16, 17, 33, 64, 70}) {
    for (size_t at = 0; at < n; at++) {
      for (const float bad : not_finite()) {
        auto x = run.floats(n, Kind::normal);
        x[at] = bad;
        rmsnorm_of(run, std::move(x), Kind::normal);
      }
      auto x = run.floats(n, Kind::normal);
      x[at] = 1.9e19f;  // its square is beyond the floats
      rmsnorm_of(run, std::move(x), Kind::outlier);
    }
  }
}

void rope(KernRun& run, const Shape& s, Kind kind) {
  const size_t half = s[0], heads = s[1], stride = 2 * half + s[2];
  const size_t n = heads ? (heads - 1) * stride + 2 * half : 0;
  auto x = run.floats(n, kind), cs = run.floats(half, kind), sn = run.floats(half, kind);
  if (kind == Kind::halfway) {
    for (size_t i = 0; i < half; i++) {
      const Halfway h = halfway(run);
      cs[i] = h.b;
      sn[i] = h.speck_b;
      for (size_t head = 0; head < heads; head++) {
        x[head * stride + i] = h.a;
        x[head * stride + half + i] = h.speck_a;
      }
    }
  }
  auto want = x;
  ref::rope(want.data(), cs.data(), sn.data(), half, stride, heads);
  run.open({{"half", half}, {"stride", stride}, {"heads", heads}}, kind);
  float* px = run.inout(x);
  const float *pc = run.in(cs), *ps = run.in(sn);
  run.call(ref::rope, px, pc, ps, half, stride, heads);
  run.expect(px, want, "x");
}

void f32_to_f16_of(KernRun& run, const std::vector<float>& x, Kind kind) {
  const size_t n = x.size();
  std::vector<uint16_t> want(n);
  const uint32_t flag = ref::f32_to_f16(x.data(), want.data(), n);
  run.open({{"n", n}}, kind);
  const float* px = run.in(x);
  uint16_t* y = run.out<uint16_t>(n);
  run.expect_value(run.call(ref::f32_to_f16, px, y, n), flag, "flag");
  run.expect(y, want, "y");
}

void f32_to_f16(KernRun& run, const Shape& s, Kind kind) {
  std::vector<float> x(s[0]);
  for (float& f : x) {
    f = run.number(kind);
    if (kind == Kind::halfway) {  // between two f16, or beside the middle
      const uint32_t bits = std::bit_cast<uint32_t>(f16_to_f32(run.f16(Kind::wide)));
      f = std::bit_cast<float>(bits ? bits + 0x1000u + uint32_t(run.below(3)) - 1 : bits);
    }
  }
  f32_to_f16_of(run, x, kind);
}

void f32_to_f16_extra(KernRun& run) {
  std::vector<float> x;
  for (uint32_t h = 0; h < 0x10000 && !run.full(); h++) {  // every f16, the middles above it, and their neighbours
    const float f = f16_to_f32(uint16_t(h)), next = f16_to_f32(uint16_t(h + 1));
    if (!std::isfinite(f)) continue;
    x.push_back(f);
    const float middle = std::isfinite(next) ? (f + next) / 2 : f > 0 ? 65520.0f : -65520.0f;
    for (const int step : {-1, 0, 1}) {
      const float m = std::bit_cast<float>(std::bit_cast<uint32_t>(middle) + uint32_t(step));
      if (std::isfinite(m) && std::fabs(m) < 65520.0f) x.push_back(m);
    }
    if (x.size() < 1000) continue;
    f32_to_f16_of(run, x, Kind::halfway);
    x.clear();
  }
  for (const size_t n : {1, 7, 8, 9, 15, 16, 17, 31, 70}) {
    for (size_t at = 0; at < n; at++) {
      auto bad = not_finite();
      for (const float f : {65520.0f, -65520.0f, 1e38f, 65519.996f, -65519.996f}) bad.push_back(f);
      for (const float f : bad) {
        auto v = run.floats(n, Kind::normal);
        v[at] = f;
        if (f != f) {  // the flag only: what becomes of a NaN is nobody's promise
          run.open({{"n", n}, {"NaN at", at}}, Kind::normal);
          const float* px = run.in(v);
          uint16_t* y = run.out<uint16_t>(n);
          run.expect_value(run.call(ref::f32_to_f16, px, y, n), 1u, "flag");
        } else {
          f32_to_f16_of(run, v, Kind::outlier);
        }
      }
    }
  }
}

void qx_vec_of(KernRun& run, const std::vector<float>& x, Kind kind) {
  const size_t n = x.size(), groups = (n + 31) / 32;
  std::vector<QxGroup> want(groups);
  const uint32_t flag = ref::qx_vec(x.data(), want.data(), n);
  run.open({{"n", n}}, kind);
  const float* px = run.in(x);
  QxGroup* out = run.out<QxGroup>(groups);
  run.expect_value(run.call(ref::qx_vec, px, out, n), flag, "flag");
  if (!flag) run.expect(out, want, "group");
}

void qx_vec(KernRun& run, const Shape& s, Kind kind) {
  auto x = run.floats(s[0], kind);
  if (kind == Kind::halfway) {  // inv is a power of two, so x * inv ends in .5 exactly
    const float scale = std::ldexp(1.0f, int(run.below(80)) - 40);
    for (size_t i = 0; i < x.size(); i++) {
      const float v = i % 32 == 0 ? 127.0f : float(run.below(127)) + 0.5f;
      x[i] = (run.below(2) ? v : -v) * scale;
    }
  }
  if (kind == Kind::extreme) {  // all at the ends
    const float top = std::fabs(run.number(Kind::wide)) + 1e-10f;
    for (float& f : x) f = run.below(2) ? top : -top;
    if (run.below(3) == 0) std::fill(x.begin(), x.begin() + long(x.size() / 2), top);
  }
  qx_vec_of(run, x, kind);
}

void qx_vec_extra(KernRun& run) {
  for (const size_t n : {1, 5, 31, 32, 33, 64, 65, 96, 100}) {
    for (size_t at = 0; at < n && !run.full(); at++) {
      for (const float bad : not_finite()) {
        auto x = run.floats(n, Kind::normal);
        x[at] = bad;
        qx_vec_of(run, x, Kind::normal);
      }
      auto x = run.floats(n, Kind::normal);
      for (const float big : {3.4028235e38f, -3.4028235e38f}) {
        x[at] = big;
        qx_vec_of(run, x, Kind::outlier);
      }
      // about the smallest amax that has an inverse
      for (uint32_t step = 0; step < 9; step++) {
        std::vector<float> tiny(n);
        tiny[at] = std::bit_cast<float>(std::bit_cast<uint32_t>(3.7322e-37f) - 4 + step);
        qx_vec_of(run, tiny, Kind::tiny);
      }
    }
  }
  for (int i = 0; i < 3000 && !run.full(); i++) qx_vec_of(run, run.floats(256, Kind::normal), Kind::normal);  // many an amax
}

}  // namespace

std::vector<KernelCase> norm_cases() {
  using enum Kind;
  const std::vector<Kind> all = {normal, wide, tiny, large, zero}, half = {normal, wide, tiny, large, zero, halfway};
  return {
      {"vec_add", lengths(0), grid({33, 40}, {0}), all, vec_add, nullptr},
      {"rmsnorm", lengths(1), grid({33, 47}, {0}), {normal, wide, tiny, large, zero, halfway, outlier}, rmsnorm, rmsnorm_extra},
      {"rope", grid(range(1, 20, {24, 32, 40, 48, 63, 64, 128}), range(0, 4), {0, 3}), grid({13, 17}, {2}, {1}), half, rope,
       nullptr},
      {"f32_to_f16", lengths(0), grid({33, 39}, {0}), {normal, wide, tiny, zero, halfway, large}, f32_to_f16, f32_to_f16_extra},
      {"qx_vec",
       lengths(0),
       grid({64, 77}, {0}),
       {normal, wide, tiny, large, zero, halfway, extreme, outlier},
       qx_vec,
       qx_vec_extra},
  };
}

}  // namespace nyb::test
