// gguf_names.h - what a model's tensors are called in a GGUF, and where their rows are there.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace nyb {

// "layers.3.q" of a model file (format.h) is "blk.3.attn_q.weight" there.
std::string gguf_name(const std::string& slot);

// What divides the frequencies of RoPE, one value a pair; in the architecture "llama" only.
inline constexpr const char* kGgufRopeFactors = "rope_freqs.weight";

// Whether RoPE turns the rows (of a bias, the values) of that tensor: q, k and their biases.
bool gguf_turned(std::string_view slot);

// Of heads whose n rows are in the order of pairs (2i, 2i + 1) in a GGUF and of halves (i, i + n/2) in a model file: the row there
// that is row `row` here, and the other way.
uint64_t pairs_from_halves(uint64_t row, uint64_t head_dim);
uint64_t halves_from_pairs(uint64_t row, uint64_t head_dim);

}  // namespace nyb
