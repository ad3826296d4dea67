#include "family_folder.h"

#include <cmath>
#include <random>
#include <stdexcept>

namespace nyb::test {
namespace {
using nlohmann::json;

json config(const char* architecture, const char* type, const json& more) {
  json c = {{"architectures", {architecture}}, {"model_type", type},       {"hidden_size", 48},        {"intermediate_size", 80},
            {"num_hidden_layers", 4},          {"num_attention_heads", 4}, {"num_key_value_heads", 2}, {"vocab_size", 67},
            {"max_position_embeddings", 320},  {"rms_norm_eps", 1e-5},     {"hidden_act", "silu"},     {"torch_dtype", "float32"}};
  c.update(more);
  return c;
}

}  // namespace

const std::vector<FamilyCase>& family_cases() {
  static const std::vector<FamilyCase> cases = {
      {"llama",
       config("LlamaForCausalLM", "llama",
              {{"attention_bias", true}, {"rope_theta", 10000.0}, {"rope_scaling", {{"type", "linear"}, {"factor", 2.5}}}})},
      {"llama3", config("LlamaForCausalLM", "llama",
                        {{"tie_word_embeddings", true},
                         {"rope_theta", 10000.0},
                         {"rope_scaling",
                          {{"rope_type", "llama3"},
                           {"factor", 8.0},
                           {"low_freq_factor", 1.0},
                           {"high_freq_factor", 4.0},
                           {"original_max_position_embeddings", 64}}}})},
      {"mistral",
       config("MistralForCausalLM", "mistral", {{"head_dim", nullptr}, {"sliding_window", 24}, {"rope_theta", 1000000.0}})},
      {"qwen2", config("Qwen2ForCausalLM", "qwen2",
                       {{"rope_theta", 10000.0},
                        {"use_sliding_window", true},
                        {"sliding_window", 40},
                        {"max_window_layers", 2},
                        {"rope_scaling", {{"type", "yarn"}, {"factor", 4.0}, {"original_max_position_embeddings", 64}}}})},
      {"qwen3", config("Qwen3ForCausalLM", "qwen3",
                       {{"head_dim", 20},
                        {"tie_word_embeddings", true},
                        {"use_sliding_window", false},
                        {"rope_parameters", {{"rope_type", "default"}, {"rope_theta", 1000000.0}}}})},
      {"smollm3", config("SmolLM3ForCausalLM", "smollm3",
                         {{"no_rope_layers", {1, 0, 1, 0}},
                          {"no_rope_layer_interval", 4},
                          {"rope_parameters",
                           {{"rope_type", "yarn"},
                            {"rope_theta", 5000000.0},
                            {"factor", 2.0},
                            {"original_max_position_embeddings", 128},
                            {"beta_fast", 8.0},
                            {"beta_slow", 0.5},
                            {"attention_factor", 1.2},
                            {"truncate", false}}}})}};
  return cases;
}

std::vector<std::string> family_case_names() {
  std::vector<std::string> names;
  for (const FamilyCase& c : family_cases()) names.push_back(c.name);
  return names;
}

const FamilyCase& family_case(const std::string& name) {
  for (const FamilyCase& c : family_cases())
    if (c.name == name) return c;
  throw std::logic_error("no family " + name);
}

HfFolder family_folder(const json& c, uint64_t seed) {
  HfFolder f;
  f.config = c;
  std::mt19937_64 rng(seed);
  const auto add = [&](const std::string& name, const std::vector<uint64_t>& shape, double middle, double spread) {
    uint64_t n = 1;
    for (const uint64_t d : shape) n *= d;
    std::vector<float> v(n);
    for (float& x : v) x = static_cast<float>(middle + spread * (static_cast<double>(rng() >> 11) * 0x1p-52 - 1));
    f.tensors.push_back({name, "F32", shape, dtype_bytes("F32", v)});
  };
  const auto matrix = [&](const std::string& name, uint64_t rows, uint64_t cols) {
    add(name, {rows, cols}, 0, std::sqrt(3.0 / static_cast<double>(cols)));
  };
  const std::string type = c["model_type"];
  const uint64_t dim = c["hidden_size"], heads = c["num_attention_heads"], kv = c["num_key_value_heads"],
                 ffn = c["intermediate_size"], vocab = c["vocab_size"], layers = c["num_hidden_layers"];
  const uint64_t hd = c.contains("head_dim") && !c["head_dim"].is_null() ? c["head_dim"].get<uint64_t>() : dim / heads;
  const bool asked = c.value("attention_bias", false);
  const auto product = [&](const std::string& name, uint64_t rows, uint64_t cols, bool bias) {
    matrix(name + ".weight", rows, cols);
    if (bias) add(name + ".bias", {rows}, 0, 0.5);
  };
  matrix("model.embed_tokens.weight", vocab, dim);
  for (uint64_t l = 0; l < layers; l++) {
    const std::string p = "model.layers." + std::to_string(l) + ".";
    add(p + "input_layernorm.weight", {dim}, 1, 0.25);
    product(p + "self_attn.q_proj", heads * hd, dim, asked || type == "qwen2");
    product(p + "self_attn.k_proj", kv * hd, dim, asked || type == "qwen2");
    product(p + "self_attn.v_proj", kv * hd, dim, asked || type == "qwen2");
    product(p + "self_attn.o_proj", dim, heads * hd, asked);
    if (type == "qwen3") {
      add(p + "self_attn.q_norm.weight", {hd}, 1, 0.25);
      add(p + "self_attn.k_norm.weight", {hd}, 1, 0.25);
    }
    add(p + "post_attention_layernorm.weight", {dim}, 1, 0.25);
    matrix(p + "mlp.gate_proj.weight", ffn, dim);
    matrix(p + "mlp.up_proj.weight", ffn, dim);
    matrix(p + "mlp.down_proj.weight", dim, ffn);
  }
  add("model.norm.weight", {dim}, 1, 0.25);
  if (!c.value("tie_word_embeddings", type == "smollm3")) matrix("lm_head.weight", vocab, dim);
  return f;
}

HfFolder llama_cpp_folder(const std::string& name) {
  HfFolder f = family_folder(family_case(name).config);
  if (name == "smollm3") {
    f.config.erase("no_rope_layers");
    for (const char* k : {"beta_fast", "beta_slow", "truncate"}) f.config["rope_parameters"].erase(k);
  }
  return f;
}

}  // namespace nyb::test
