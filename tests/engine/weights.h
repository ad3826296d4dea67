// weights.h - models for the engine's tests: real ones read by the test itself, and small random ones.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model/model.h"

namespace nyb::test {

// A model as plain f32 matrices, row-major, under the names that a model file gives them.
struct Weights {
  ModelShape shape;
  bool tied = true;
  std::map<std::string, std::vector<float>> at;
  const std::vector<float>& layer(size_t l, const char* name) const { return at.at("layers." + std::to_string(l) + "." + name); }
  std::vector<float>& layer(size_t l, const char* name) { return at.at("layers." + std::to_string(l) + "." + name); }
};

// All tensors of model.safetensors (f32 or bf16) in a folder, by their names there; read without the program's own importer.
std::map<std::string, std::vector<float>> hf_tensors(const std::string& folder);
// config.json and model.safetensors (f32 or bf16) of a folder, read without the program's own importer.
Weights hf_weights(const std::string& folder);
Weights random_weights(const ModelShape& shape, bool tied, uint64_t seed);

// The type of each matrix, by name.
using TypeOf = std::function<TType(const std::string& name)>;
inline TypeOf all(TType t) {
  return [t](const std::string&) { return t; };
}

// ggml's types are made by the tests' own quantizer (ggml_blocks.h); the blocks of a row of a matrix of so many columns, filled up
// with zeros.
inline bool is_ggml(TType t) { return t == TType::q80 || t == TType::q4k || t == TType::q6k; }
std::vector<uint8_t> ggml_blocks_of(const std::vector<float>& w, TType type, size_t row, size_t cols);

// Writes the model to a file of this process and loads it. `meta`: by default what a plain llama of that shape needs.
std::unique_ptr<Model> make_model(const Weights& w, const TypeOf& type, const Meta* meta = nullptr);

// The same model with matrices of other types, made of the values that its own stand for.
std::unique_ptr<Model> retyped(const Model& m, const TypeOf& type);

}  // namespace nyb::test
