// bench_vec.cpp - kernels that go over one vector.
#include <vector>
#include "bench_paths.h"
#include "benches.h"

namespace nyb {
namespace {

std::vector<float> ramp(size_t n) {
  std::vector<float> x(n);
  for (size_t i = 0; i < n; ++i) x[i] = static_cast<float>(i % 97) * 0.125f - 6.0f;
  return x;
}

void bench_qx_vec(benchmark::State& state, const KernTable& k, size_t n) {
  const std::vector<float> x = ramp(n);
  std::vector<QxGroup> out((n + 31) / 32);
  for ([[maybe_unused]] auto turn : state) {
    benchmark::DoNotOptimize(k.qx_vec(x.data(), out.data(), n));
    benchmark::ClobberMemory();
  }
  bytes_per_pass(state, n * sizeof(float));
}

void bench_exp8_vec(benchmark::State& state, const KernTable& k, size_t n) {
  const std::vector<float> x = ramp(n);
  std::vector<float> y(n);
  for ([[maybe_unused]] auto turn : state) {
    k.exp8_vec(x.data(), y.data(), n);
    benchmark::ClobberMemory();
  }
  bytes_per_pass(state, n * sizeof(float));
}

}  // namespace

void register_vec(const CpuFeatures& cpu) {
  for (const size_t n : {size_t{768}, size_t{4096}}) {
    bench_paths(cpu, "qx_vec", fmt::format("{}", n), [=](benchmark::State& s, const KernTable& k) { bench_qx_vec(s, k, n); });
    bench_paths(cpu, "exp8_vec", fmt::format("{}", n), [=](benchmark::State& s, const KernTable& k) { bench_exp8_vec(s, k, n); });
  }
}

}  // namespace nyb
