// bench_gemv.cpp - the matrix-vector products, from the caches (warm) and from memory (cold).
#include <vector>
#include "bench_paths.h"
#include "benches.h"
#include "probe/probe.h"
#include "weights.h"

namespace nyb {
namespace {

struct Shape {
  size_t rows, cols;
};

// Cold: one matrix after another out of more memory than the last cache holds, so that none is still there when its turn
// comes again.
void bench(benchmark::State& state, const KernTable& k, TType type, Shape shape, bool cold) {
  const size_t bytes = weight_bytes(type, shape.rows, shape.cols);
  const size_t wanted = cold ? 4 * last_cache_bytes() + (size_t{64} << 20) : bytes;
  const size_t count = (wanted + bytes - 1) / bytes;
  const Memory memory(count * bytes, Memory::Pages::small);
  std::vector<Tensor> matrices;
  for (size_t i = 0; i < count; ++i) matrices.push_back(random_matrix(type, shape.rows, shape.cols, memory.data() + i * bytes, i));
  Vectors vectors(shape.cols, shape.rows);
  size_t next = 0;
  for ([[maybe_unused]] auto turn : state) {
    mat_panels(k, matrices[next], 0, panels_of(shape.rows), vectors.in(), 1, vectors.y.data(), 0);
    next = next + 1 == count ? 0 : next + 1;
    benchmark::ClobberMemory();
  }
  bytes_per_pass(state, bytes);
}

}  // namespace

void register_gemv(const CpuFeatures& cpu) {
  for (const TType type : kMatrixTypes)
    for (const Shape shape : {Shape{768, 768}, Shape{2048, 768}, Shape{4096, 4096}})
      for (const bool cold : {false, true})
        bench_paths(cpu, gemv_name(type), fmt::format("{}x{}/{}", shape.rows, shape.cols, cold ? "cold" : "warm"),
                    [=](benchmark::State& s, const KernTable& k) { bench(s, k, type, shape, cold); });
}

}  // namespace nyb
