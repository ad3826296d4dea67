// weights.h - random weights made on the fly, in panels as the kernels read them.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>
#include "kern/kern.h"

namespace nyb {

enum class WeightType : uint8_t { q8, q4, f32 };
inline constexpr std::array weight_types = {WeightType::q8, WeightType::q4, WeightType::f32};
std::string_view weight_name(WeightType t);
size_t panel_bytes(WeightType t, size_t cols);  // sixteen rows; cols a multiple of 32

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
void fill_weights(WeightType t, std::byte* p, size_t bytes, uint64_t seed);

// What a product needs besides its weights.
struct Vectors {
  Vectors(size_t cols, size_t rows);
  std::vector<float> x, y, row_scale;
  std::vector<QxGroup> groups;
};

// y[16 * first ..) of `count` panels at w, by the table's kernel
void gemv(const KernTable& k, WeightType t, const std::byte* w, Vectors& v, size_t first, size_t count);

// What of the last cache the system tells; 0: nothing.
size_t last_cache_bytes();

}  // namespace nyb
