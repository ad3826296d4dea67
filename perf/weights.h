// weights.h - random matrices made on the fly, as a model file has them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>
#include "engine/buffer.h"
#include "engine/matvec.h"
#include "kern/kern.h"
#include "model/tensor.h"

namespace nyb {

// The kernel that multiplies by this type, as kernels.def names it: "gemv_q80" for q8_0.
std::string gemv_name(TType t);

// Anonymous memory, given back when it goes. Throws Error when the system has not that much.
class Memory {
 public:
  enum class Pages : uint8_t { small, huge };
  Memory(size_t bytes, Pages pages);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  std::byte* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  std::byte* data_ = nullptr;
  size_t size_ = 0;
};

// A matrix at `at`, which has room for weight_bytes: int8 and nibbles of any value, scales and floats of moderate size. The same
// for the same seed. Its rows are whole panels.
Tensor random_matrix(TType t, size_t rows, size_t cols, std::byte* at, uint64_t seed);

// What such a matrix takes, so that the next one is aligned as tensors of a model file are.
size_t weight_bytes(TType t, size_t rows, size_t cols);

// What a product needs besides its weights, one token's after the other's; y as the engine has it, rows on lines: where it begins
// 16 bytes off one, products of several tokens take 3 to 4 % longer.
struct Vectors {
  Vectors(size_t cols, size_t rows, size_t tokens = 1);
  MatIn in() const { return {x.data(), x.size() / tokens_, groups.data(), groups.size() / tokens_}; }
  size_t y_stride;
  std::vector<float> x;
  Buffer<float> y;
  std::vector<QxGroup> groups;

 private:
  size_t tokens_;
};

}  // namespace nyb
