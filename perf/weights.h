// weights.h - random weights made on the fly, in panels as the kernels read them.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>
#include "kern/kern.h"
#include "model/tensor.h"

namespace nyb {

inline constexpr std::array weight_types = {TType::q8, TType::q4, TType::f32};

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

// Whole panels from p on: any int8 and any nibble, scales and floats of moderate size. The same for the same seed.
void fill_weights(TType t, std::byte* p, size_t bytes, uint64_t seed);

// What a product needs besides its weights.
struct Vectors {
  Vectors(size_t cols, size_t rows);
  std::vector<float> x, y, row_scale;
  std::vector<QxGroup> groups;
};

// y[16 * first ..) of `count` panels at w, by the table's kernel. The row scales of q8 are those of `v`, so that the memory at w is
// panels alone and every byte of it is read (a model's tensor ends with them).
void gemv(const KernTable& k, TType t, const std::byte* w, Vectors& v, size_t first, size_t count);

// What of the last cache the system tells; 0: nothing.
size_t last_cache_bytes();

}  // namespace nyb
