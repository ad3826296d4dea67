// llama2c_file.h - a small model as llama2.c writes it, in each of its versions, and the same as a Hugging Face folder.
#pragma once
#include <array>
#include <map>
#include <string>
#include <vector>

#include "hf_folder.h"

namespace nyb::test {

// 2 layers, dim 24, 4 heads of 6, 2 key/value heads, ffn 20, vocabulary 19, 16 positions.
struct Llama2cFile {
  // The same values in any version: multiples of 1/128, of matrices times 1, 2 or 3 by groups of `group` in llama2.c's order.
  explicit Llama2cFile(bool tied);

  static constexpr uint64_t dim = 24, ffn = 20, layers = 2, heads = 4, kv_heads = 2, head = 6, vocab = 19, ctx = 16, group = 4;
  bool tied;
  std::map<std::string, std::vector<float>> values;  // "wq.1": of layer 1, as llama2.c has it

  std::string bytes(int version) const;
  HfFolder hf() const;
};

std::string ints(const std::vector<int32_t>& v);

}  // namespace nyb::test
