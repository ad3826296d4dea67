// hf_folder.h - makes Hugging Face folders of small models, whole or spoilt on purpose.
#pragma once
#include <gtest/gtest.h>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>
#include "kern/error.h"
#include "model/model.h"

namespace nyb::test {

struct HfTensor {
  std::string name, dtype;
  std::vector<uint64_t> shape;
  std::string bytes;  // little endian, of that dtype
};

// Values as the bytes of F32, F16 or BF16 (rounded by code of its own, not the project's).
std::string dtype_bytes(const std::string& dtype, const std::vector<float>& v);
// `n` values within -1..1 that are the same in f32, f16 and bf16 (seven bits of fraction).
std::vector<float> plain_values(size_t n, uint64_t seed);

struct HfFolder {
  nlohmann::json config;
  std::vector<HfTensor> tensors;

  HfTensor& at(const std::string& name);
  void erase(const std::string& name);
  // Writes config.json and the tensors: in one file, or spread over `shards` with an index.
  std::filesystem::path write(const std::string& folder, int shards = 1) const;
};

// A model with odd sizes: 2 layers, dim 24, 2 heads of 6, 1 key/value head, ffn 20, vocabulary 19, 16 positions.
HfFolder tiny_model(const std::string& dtype = "F32", bool tied = true);

std::string safetensors(const std::vector<HfTensor>& tensors);
// A safetensors file from its parts; the length field is the header's unless given.
std::string safetensors(const std::string& header, const std::string& data, uint64_t length = UINT64_MAX);
std::filesystem::path write_file(const std::filesystem::path& p, const std::string& bytes);

// Converts tiny_model() (or another folder) to an .mnm in the test's own folder and returns its path.
std::filesystem::path tiny_mnm(const std::string& name, const std::string& type = "q8", const std::string& head = "",
                               bool tied = true);

// Converts a folder, all its matrices to one type, and loads what comes of it.
std::unique_ptr<Model> folder_model(const std::filesystem::path& folder, TType type);

// The bytes of tiny_model() in int8 with a head of its own: what the tests of loading spoil. Made once.
const std::string& tiny_file();

// The message of the nyb::Error that f throws; "" when it throws none.
template <class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const Error& e) { return e.what(); }
  return "";
}

// What eng_load says of a file of these bytes; "" when it loads.
std::string load_message(const std::string& bytes);

// One sentence in one line, with `part` in it.
::testing::AssertionResult says(const std::string& message, const std::string& part);

}  // namespace nyb::test
