// Kernels over exp8. The function itself is run over all its floats in exp8_test.cpp.
#include <algorithm>
#include <cmath>

#include "kern/cases.h"
#include "kern/ref.h"

namespace nyb::test {
namespace {

// In normal kind over the whole range of exp8 and a little beyond.
std::vector<float> exponents(KernRun& run, size_t n, Kind kind) {
  auto x = run.floats(n, kind);
  if (kind == Kind::normal) {
    for (float& f : x) f *= 50;
  }
  return x;
}

void exp8_vec(KernRun& run, const Shape& s, Kind kind) {
  const size_t n = s[0];
  const auto x = exponents(run, n, kind);
  std::vector<float> want(n);
  ref::exp8_vec(x.data(), want.data(), n);
  run.open({{"n", n}}, kind);
  const float* px = run.in(x);
  float* y = run.out<float>(n);
  run.call(ref::exp8_vec, px, y, n);
  run.expect(y, want, "y");
  run.open({{"n", n}, {"y is x", 1}}, kind);
  y = run.inout(x);
  run.call(ref::exp8_vec, y, y, n);
  run.expect(y, want, "y");
}

void exp8_extra(KernRun& run) {
  for (const size_t n : {1, 7, 8, 9, 16, 33}) {
    for (size_t at = 0; at < n; at++) {
      for (const float bad : not_finite()) {
        auto x = exponents(run, n, Kind::normal);
        x[at] = bad;
        std::vector<float> want(n);
        ref::exp8_vec(x.data(), want.data(), n);
        run.open({{"n", n}, {"not finite at", at}}, Kind::normal);
        const float* px = run.in(x);
        float* y = run.out<float>(n);
        run.call(ref::exp8_vec, px, y, n);
        float got;
        memcpy(&got, reinterpret_cast<const uint8_t*>(y) + 4 * at, 4);
        if (bad != bad) {  // a NaN passes; which one is nobody's promise
          if (got == got) run.add(Check::result, "exp8 of a NaN is a number");
          memcpy(&want[at], &got, 4);
        }
        run.expect(y, want, "y");
      }
    }
  }
}

void vec_max_of(KernRun& run, const std::vector<float>& x, Kind kind) {
  std::vector<float> want(1);
  const uint32_t flag = ref::vec_max(x.data(), want.data(), x.size());
  run.open({{"n", x.size()}}, kind);
  const float* px = run.in(x);
  float* max = run.out<float>(1);
  run.expect_value(run.call(ref::vec_max, px, max, x.size()), flag, "flag");
  if (!flag) run.expect(max, want, "max");
}

void vec_max(KernRun& run, const Shape& s, Kind kind) {
  auto x = run.floats(s[0], kind);
  vec_max_of(run, x, kind);
  for (float& f : x) f = -std::fabs(f);
  vec_max_of(run, x, kind);
}

void vec_max_extra(KernRun& run) {
  for (const size_t n : {1, 2, 7, 8, 9, 16, 17, 31, 32, 33, 64, 65, 70}) {
    for (size_t at = 0; at < n && !run.full(); at++) {
      std::vector<float> x(n);
      for (float& f : x) f = -std::fabs(run.number(Kind::normal));
      x[at] = 3.0f;  // each place must count
      vec_max_of(run, x, Kind::normal);
      x[at] = 3.4028235e38f;
      vec_max_of(run, x, Kind::normal);
      for (const float bad : not_finite()) {
        x[at] = bad;
        vec_max_of(run, x, Kind::normal);
      }
    }
  }
}

void vec_above_of(KernRun& run, const std::vector<float>& x, float bound, Kind kind) {
  run.open({{"n", x.size()}}, kind);
  const float* px = run.in(x);
  run.expect_value(run.call(ref::vec_above, px, x.size(), bound), ref::vec_above(x.data(), x.size(), bound), "index");
}

void vec_above(KernRun& run, const Shape& s, Kind kind) {
  const auto x = run.floats(s[0], kind);
  const float most = x.empty() ? 0.0f : *std::max_element(x.begin(), x.end());
  for (const float bound : {most, -1e30f, 0.0f}) vec_above_of(run, x, bound, kind);
  if (!x.empty()) vec_above_of(run, x, x[run.below(x.size())], kind);
}

// Each place, alone and with another one after it; and what is no number.
void vec_above_extra(KernRun& run) {
  for (const size_t n : {1, 2, 7, 8, 9, 16, 17, 31, 32, 33, 64, 65, 70, 130}) {
    for (size_t at = 0; at < n && !run.full(); at++) {
      std::vector<float> x(n, -1.0f);
      x[at] = 1.0f;
      vec_above_of(run, x, 0.5f, Kind::normal);
      vec_above_of(run, x, -2.0f, Kind::normal);
      vec_above_of(run, x, -0.0f, Kind::normal);
      x[n - 1] = 2.0f;
      vec_above_of(run, x, 0.5f, Kind::normal);
      for (const float other : not_finite()) {
        x[at] = other;
        vec_above_of(run, x, 0.5f, Kind::normal);
        vec_above_of(run, std::vector<float>(n, -1.0f), other, Kind::normal);
      }
    }
  }
}

void softmax_num(KernRun& run, const Shape& s, Kind kind) {
  const size_t n = s[0];
  const auto x = exponents(run, n, kind);
  const float max = n ? *std::max_element(x.begin(), x.end()) : 0.0f, mul = run.below(2) ? 1.0f : 1 / 0.7f;
  std::vector<float> want(n);
  const float sum = ref::softmax_num(x.data(), want.data(), n, max, mul);
  run.open({{"n", n}}, kind);
  const float* px = run.in(x);
  float* p = run.out<float>(n);
  run.expect_value(run.call(ref::softmax_num, px, p, n, max, mul), sum, "sum");
  run.expect(p, want, "p");
  run.open({{"n", n}, {"p is x", 1}}, kind);
  p = run.inout(x);
  run.expect_value(run.call(ref::softmax_num, p, p, n, max, mul), sum, "sum");
  run.expect(p, want, "p");
}

void swiglu(KernRun& run, const Shape& s, Kind kind) {
  const size_t n = s[0];
  const auto g = exponents(run, n, kind), u = run.floats(n, kind);
  run_pair(run, ref::swiglu, g, u, kind);
}

}  // namespace

std::vector<KernelCase> exp_cases() {
  using enum Kind;
  const std::vector<Kind> all = {normal, wide, tiny, large, zero, outlier};
  const auto few = grid({33, 46}, {0});
  return {
      {"exp8_vec", lengths(0), few, all, exp8_vec, exp8_extra},
      {"vec_max", lengths(1), few, all, vec_max, vec_max_extra},
      {"vec_above", lengths(0), few, all, vec_above, vec_above_extra},
      {"softmax_num", lengths(0), few, all, softmax_num, nullptr},
      {"swiglu", lengths(0), few, all, swiglu, nullptr},
  };
}

}  // namespace nyb::test
