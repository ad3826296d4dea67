// verify.h - is the file whole, and does every kernel path of this CPU compute what the reference computes?
#pragma once
#include <cstdint>
#include <string>
#include <vector>
#include "chat/runtime.h"
#include "kern/cpu.h"

namespace nyb {

// Prints one line for the file and one for each path: equal to the reference, different (naming the kernels), or what the CPU
// lacks. Returns 0, or 1 when anything differs.
int verify_run(const Runtime& r, const CpuFeatures& cpu);

// The sizes that the model's kernels run at.
struct VerifyShapes {
  struct Matrix {
    TType type;
    uint64_t rows, cols;
    bool operator==(const Matrix&) const = default;
  };
  std::vector<Matrix> matrices;   // each once
  std::vector<uint64_t> lengths;  // of vectors
  uint64_t heads = 1, head_dim = 1, rope_half = 0;
  float eps = 1e-5f, attn_scale = 1;
};
VerifyShapes verify_shapes(const Model& m);

// The names of the kernels of `t` whose bytes differ from `ref`'s on made-up inputs of these shapes.
std::vector<std::string> verify_path(const KernTable& ref, const KernTable& t, const VerifyShapes& shapes);

}  // namespace nyb
