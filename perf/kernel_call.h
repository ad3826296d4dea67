// kernel_call.h - a call of each kernel of the list, for measuring it.
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>
#include "engine/self_check.h"
#include "kern/kern.h"
#include "model/shapes.h"

namespace nyb {

// The arrays of a call lie one after another in a "set" of memory, each on 64 bytes, so that a benchmark can call with one set
// after another. What a product takes besides its weights stays where it is, in the first cache.
struct KernelCall {
  std::string kernel, shape;  // "gemv_q8", "768x768"; "gemm_q8", "2048x768x60"
  size_t set_bytes = 0;       // a multiple of 64
  double bytes = 0;           // that a call reads and writes, each once
  double elements = 0;        // weights x tokens, values, or positions x dimensions: what cycles are counted by
  double macs = 0;            // multiply and add, of products and attention; else 0
  std::function<void(std::byte* set)> fill;
  std::function<void(const KernTable& k, std::byte* set)> run;
};

struct KernelSize {
  size_t a, b;  // rows, columns; heads or positions, head dimension; the length of a vector, 1
  bool operator==(const KernelSize&) const = default;
};

// What kernels are measured at.
struct KernelSizes {
  std::vector<KernelSize> matrices, of_prompts, vectors, heads, positions, segments;
};
KernelSizes usual_sizes();
// Those of the shapes' own matrices, vectors and heads, each once.
KernelSizes shape_sizes(const std::vector<const NamedShape*>& shapes);

// Its calls at these sizes, but those that its type cannot have. Empty for a kernel of the list that nobody has written a call for.
std::vector<KernelCall> kernel_calls(std::string_view kernel, const KernelSizes& sizes = usual_sizes());

// At a small one, a few thousand instructions, that is whole turns of the kernel's loops. The kernel has kernel_calls.
KernelCall small_call(std::string_view kernel);

// Where its code begins.
const void* kernel_code(const KernTable& k, std::string_view kernel);

// Shapes like those of the calls, for self_check.
CheckShapes kernel_shapes(const KernelSizes& sizes = usual_sizes());

}  // namespace nyb
