// ggml.h - llama.cpp's own quantizers, asked through its library: what its types are and mean.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace nyb::test {

constexpr uint32_t kGgmlTypes = 43;  // numbers below this have a name in that library, be it a removed type's

struct Ggml {
  int64_t (*block_values)(uint32_t type) = nullptr;  // 0: no such type
  size_t (*block_bytes)(uint32_t type) = nullptr;
  const char* (*name)(uint32_t type) = nullptr;

  std::string quantize(uint32_t type, const std::vector<float>& values, size_t row) const;
  std::vector<float> dequantize(uint32_t type, const std::string& blocks) const;

  // Made once. Fails the test, saying what to run, where the library is not there: then it is null.
  static const Ggml* get();

 private:
  void* symbol(const std::string& name) const;
  void* library_ = nullptr;
  size_t (*chunk_)(uint32_t, const float*, void*, int64_t, int64_t, int64_t, const float*) = nullptr;
};

}  // namespace nyb::test
