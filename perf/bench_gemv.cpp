// bench_gemv.cpp - the matrix-vector products, from the caches (warm) and from memory (cold).
#include "bench_paths.h"
#include "weights.h"

namespace nyb {
namespace {

struct Shape {
  size_t rows, cols;
};

// Cold: one matrix after another out of more memory than the last cache holds, so that none is still there when its turn
// comes again.
void bench(benchmark::State& state, const KernTable& k, TType type, Shape shape, bool cold) {
  const size_t panels = shape.rows / 16;
  const size_t bytes = panels * panel_bytes(type, shape.cols);
  const size_t wanted = cold ? 4 * last_cache_bytes() + (size_t{64} << 20) : bytes;
  const size_t matrices = (wanted + bytes - 1) / bytes;
  const Memory memory(matrices * bytes, Memory::Pages::small);
  fill_weights(type, memory.data(), memory.size(), 3);
  Vectors vectors(shape.cols, shape.rows);
  size_t next = 0;
  for ([[maybe_unused]] auto turn : state) {
    gemv(k, type, memory.data() + next * bytes, vectors, 0, panels);
    next = next + 1 == matrices ? 0 : next + 1;
    benchmark::ClobberMemory();
  }
  bytes_per_pass(state, bytes);
}

[[maybe_unused]] const bool registered = [] {
  for (const TType type : weight_types)
    for (const Shape shape : {Shape{768, 768}, Shape{2048, 768}, Shape{4096, 4096}})
      for (const bool cold : {false, true})
        bench_paths(fmt::format("gemv_{}", ttype_name(type)),
                    fmt::format("{}x{}/{}", shape.rows, shape.cols, cold ? "cold" : "warm"),
                    [=](benchmark::State& s, const KernTable& k) { bench(s, k, type, shape, cold); });
  return true;
}();

}  // namespace
}  // namespace nyb
