// mnm1_file.h - small models as version 1 of the model file, by code of the tests' own.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace nyb::test {

// 2 layers, width 64, 4 heads of 16, 2 key/value heads, feed-forward 96, vocabulary 301, 32 positions.
struct Mnm1File {
  static constexpr uint64_t layers = 2, dim = 64, heads = 4, kv_heads = 2, head_dim = 16, ffn = 96, vocab = 301, ctx = 32;
  explicit Mnm1File(uint64_t quant);

  uint64_t quant;  // 0 f32, 1 int8, 2 int4
  uint64_t hash = 0;
  // Of each matrix or norm, as the file has it ("E", "0.Wqkv", "0.n1"): values, row-major, as floats.
  std::map<std::string, std::vector<float>> values;
  std::map<std::string, std::vector<float>> scales;  // of int8 and int4
  std::map<std::string, std::vector<int8_t>> ints;

  std::string bytes() const;
};

}  // namespace nyb::test
