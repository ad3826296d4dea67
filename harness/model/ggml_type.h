// ggml_type.h - the types that a GGUF file's tensors can have: their numbers, names and sizes.
#pragma once
#include <cstdint>
#include <string_view>

namespace nyb {

// Numbers and names are ggml's (enum ggml_type of ggml.h); of these the values are read (dequant.h).
enum class GgmlType : uint32_t {
  f32 = 0,
  f16 = 1,
  q4_0 = 2,
  q4_1 = 3,
  q5_0 = 6,
  q5_1 = 7,
  q8_0 = 8,
  q2_k = 10,
  q3_k = 11,
  q4_k = 12,
  q5_k = 13,
  q6_k = 14,
  iq4_nl = 20,
  iq4_xs = 23,
  bf16 = 30,
};

// A row is stored as blocks of `values` each, of `bytes` each. Types that are known by name only are here as well, so that a
// file that has them is refused for the tensor that matters, and its table can be shown.
struct GgmlBlock {
  uint32_t number;
  std::string_view name;  // as ggml prints it
  uint32_t values, bytes;
};
const GgmlBlock* ggml_block(uint32_t number);  // nullptr: no type has this number
inline const GgmlBlock& ggml_block(GgmlType t) { return *ggml_block(static_cast<uint32_t>(t)); }

}  // namespace nyb
