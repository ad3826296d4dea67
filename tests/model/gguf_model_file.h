// gguf_model_file.h - small models as GGUF, by code of the tests' own.
#pragma once
#include <functional>
#include <string>

#include "gguf_file.h"
#include "hf_folder.h"

namespace nyb::test {

// The same model, as llama.cpp's converter would write it: names, keys, and but for Qwen the rows of q and k in
// the order of pairs (2i, 2i + 1).
GgufMade gguf_of(const HfFolder& folder);

// Where row `row` of q or k in halves is in pairs.
size_t paired_row(size_t row, size_t head_dim);

// One layer with matrices of `type` made by `quantize(values, columns)`: dim 256, 4 heads of 64, 2 key/value heads, ffn 256,
// vocabulary 40, tied; normal values of deviation 0.02.
GgufMade gguf_with(uint32_t type, const std::function<std::string(const std::vector<float>&, size_t)>& quantize);

}  // namespace nyb::test
