// family_folder.h - tiny models of each family with random weights, as Hugging Face folders. Written from what transformers reads,
// without the project's own table.
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "hf_folder.h"

namespace nyb::test {

struct FamilyCase {
  std::string name;  // fit for a test's name
  nlohmann::json config;
};

// Each family, and each way of scaling positions: llama with biases and linear scaling, llama3, mistral with a window of 24, qwen2
// with yarn and a window of 40 in its last two layers, qwen3 with heads that are wider than dim / heads, smollm3 without RoPE in
// two layers and yarn with each of its parameters. 4 layers, dim 48, vocabulary 67, context 320.
const std::vector<FamilyCase>& family_cases();
std::vector<std::string> family_case_names();
const FamilyCase& family_case(const std::string& name);

// The tensors that such a config asks for, in f32. Matrices keep the size of what they multiply, norms are about 1, biases up to
// 0.5.
HfFolder family_folder(const nlohmann::json& config, uint64_t seed = 1);

// A family's model as llama.cpp can run it: SmolLM3 with RoPE left out of every fourth layer, and yarn with its usual parameters.
HfFolder llama_cpp_folder(const std::string& name);

}  // namespace nyb::test
