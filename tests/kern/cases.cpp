#include "kern/cases.h"

#include <stdexcept>

namespace nyb::test {

std::vector<size_t> range(size_t from, size_t to, std::initializer_list<size_t> more) {
  std::vector<size_t> v;
  for (size_t i = from; i <= to; i++) v.push_back(i);
  v.insert(v.end(), more);
  return v;
}

std::vector<Shape> grid(const std::vector<size_t>& a, const std::vector<size_t>& b, const std::vector<size_t>& c) {
  std::vector<Shape> v;
  for (const size_t x : a) {
    for (const size_t y : b) {
      for (const size_t z : c) v.push_back({x, y, z});
    }
  }
  return v;
}

std::vector<Shape> lengths(size_t from) {
  return grid(range(from, 70, {127, 128, 129, 255, 256, 257, 271, 992, 999, 1000, 1001, 1007, 1023, 1024, 1025}), {0});
}

std::vector<float> not_finite() {
  std::vector<float> v;
  for (const uint32_t bits : {0x7F800000u, 0xFF800000u, 0x7FC00000u, 0xFFC00000u, 0x7F800001u, 0xFFBFFFFFu, 0x7FFFFFFFu}) {
    v.push_back(std::bit_cast<float>(bits));
  }
  return v;
}

const std::vector<KernelCase>& kernel_cases() {
  static const std::vector<KernelCase> all = [] {
    std::vector<KernelCase> v;
    for (const auto& part : {gemv_cases(), gemm_cases(), exp_cases(), norm_cases(), attn_cases()})
      v.insert(v.end(), part.begin(), part.end());
    return v;
  }();
  return all;
}

const KernelCase& case_of(std::string_view name) {
  for (const KernelCase& c : kernel_cases()) {
    if (c.name == name) return c;
  }
  throw std::out_of_range("no case for the kernel " + std::string(name));
}

void run_case(KernRun& run, const KernelCase& c) {
  for (const KernRun::Edge edge : {KernRun::Edge::end, KernRun::Edge::start, KernRun::Edge::gap}) {
    for (const Shape& s : c.shapes) {
      for (const Kind k : c.kinds) {
        run.place(edge, edge == KernRun::Edge::gap ? unsigned(1 + run.below(63)) : 0);
        c.body(run, s, k);
        if (run.full()) return;
      }
    }
  }
  for (unsigned gap = 0; gap < 64; gap++) {
    for (const Shape& s : c.few) {
      run.place(KernRun::Edge::gap, gap);
      c.body(run, s, Kind::normal);
      if (run.full()) return;
    }
  }
  run.place(KernRun::Edge::end);
  if (c.extra) c.extra(run);
}

void run_pair(KernRun& run, void (*kernel)(const float*, const float*, float*, size_t), const std::vector<float>& a,
              const std::vector<float>& b, Kind kind) {
  const size_t n = a.size();
  std::vector<float> want(n);
  kernel(a.data(), b.data(), want.data(), n);
  run.open({{"n", n}}, kind);
  const float *pa = run.in(a), *pb = run.in(b);
  float* y = run.out<float>(n);
  run.call(kernel, pa, pb, y, n);
  run.expect(y, want, "y");
  run.open({{"n", n}, {"y is the first", 1}}, kind);
  y = run.inout(a);
  pb = run.in(b);
  run.call(kernel, y, pb, y, n);
  run.expect(y, want, "y");
  run.open({{"n", n}, {"y is the second", 1}}, kind);
  pa = run.in(a);
  y = run.inout(b);
  run.call(kernel, pa, y, y, n);
  run.expect(y, want, "y");
}

}  // namespace nyb::test
