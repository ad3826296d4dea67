// self_check.h - does a path compute here what the reference computes?
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "kern/kern.h"
#include "model/model.h"

namespace nyb {

// The sizes that kernels are checked at.
struct CheckShapes {
  struct Matrix {
    TType type;
    uint64_t rows, cols;
    bool operator==(const Matrix&) const = default;
  };
  std::vector<Matrix> matrices;   // every product runs at each of these sizes; the first rows of a tall one
  std::vector<uint64_t> lengths;  // of vectors; at least one
  uint64_t heads = 1, head_dim = 1, rope_half = 0;
  float eps = 1e-5f, attn_scale = 1;
};

// Those that the kernels of a model run at, each once.
CheckShapes check_shapes(const Model& m);

// Runs every kernel of the list (kernels.def) from the table and from the reference's on the same made-up inputs of these shapes,
// under the engine's MXCSR, and compares what they write and return, byte by byte. Returns the names of those that differ, in the
// list's order (empty: all are equal). The inputs are the same each time. Whether the CPU can run the table's path is the caller's
// to know (cpu_missing).
std::vector<std::string> self_check(const KernTable& t, const CheckShapes& shapes);

}  // namespace nyb
