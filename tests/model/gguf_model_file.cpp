#include "gguf_model_file.h"

#include <map>

#include "model/measure.h"

namespace nyb::test {
namespace {

std::string gguf_name(std::string name) {
  const std::pair<std::string, std::string> words[] = {{"model.layers.", "blk."},
                                                       {"model.embed_tokens", "token_embd"},
                                                       {"model.norm", "output_norm"},
                                                       {"lm_head", "output"},
                                                       {"input_layernorm", "attn_norm"},
                                                       {"post_attention_layernorm", "ffn_norm"},
                                                       {"self_attn.o_proj", "attn_output"},
                                                       {"self_attn.", "attn_"},
                                                       {"mlp.", "ffn_"},
                                                       {"_proj", ""}};
  for (const auto& [from, to] : words)
    if (const size_t at = name.find(from); at != std::string::npos) name.replace(at, from.size(), to);
  return name;
}

}  // namespace

size_t paired_row(size_t row, size_t head_dim) {
  const size_t head = row / head_dim, i = row % head_dim, half = head_dim / 2;
  return head * head_dim + (i < half ? 2 * i : 2 * (i - half) + 1);
}

GgufMade gguf_of(const HfFolder& f) {
  const auto n = [&](const char* k) { return f.config.at(k).get<uint32_t>(); };
  const uint32_t head_dim = f.config.contains("head_dim") ? n("head_dim") : n("hidden_size") / n("num_attention_heads");
  const std::string arch = f.config.at("model_type");
  const bool pairs = !arch.starts_with("qwen");
  GgufMade g;
  g.keys = {{"general.architecture", gguf::str(arch)},
            {"general.name", gguf::str("Own Name")},
            {arch + ".block_count", gguf::u32(n("num_hidden_layers"))},
            {arch + ".context_length", gguf::u32(n("max_position_embeddings"))},
            {arch + ".embedding_length", gguf::u32(n("hidden_size"))},
            {arch + ".feed_forward_length", gguf::u32(n("intermediate_size"))},
            {arch + ".attention.head_count", gguf::u32(n("num_attention_heads"))},
            {arch + ".attention.head_count_kv", gguf::u32(n("num_key_value_heads"))},
            {arch + ".attention.key_length", gguf::u32(head_dim)},
            {arch + ".attention.layer_norm_rms_epsilon", gguf::f32(f.config.at("rms_norm_eps").get<float>())},
            {arch + ".rope.freq_base", gguf::f32(f.config.value("rope_theta", 10000.0F))},
            {arch + ".rope.dimension_count", gguf::u32(head_dim)}};
  for (const HfTensor& t : f.tensors) {
    std::string bytes = t.bytes;
    const std::string name = gguf_name(t.name);
    if (pairs && (name.find("attn_q.") != std::string::npos || name.find("attn_k.") != std::string::npos)) {
      const size_t row = t.bytes.size() / t.shape[0];
      for (size_t r = 0; r < t.shape[0]; r++) bytes.replace(paired_row(r, head_dim) * row, row, t.bytes.substr(r * row, row));
    }
    g.tensors.push_back({name, {t.shape.rbegin(), t.shape.rend()}, t.dtype == "F32" ? 0u : t.dtype == "F16" ? 1u : 30u, bytes});
  }
  return g;
}

GgufMade gguf_with(uint32_t type, const std::function<std::string(const std::vector<float>&, size_t)>& quantize) {
  HfFolder f = tiny_model("F32", true);
  for (const auto& [key, value] : std::map<std::string, uint32_t>{{"hidden_size", 256},
                                                                  {"intermediate_size", 256},
                                                                  {"num_hidden_layers", 1},
                                                                  {"num_attention_heads", 4},
                                                                  {"num_key_value_heads", 2},
                                                                  {"head_dim", 64}})
    f.config[key] = value;
  GgufMade g = gguf_of({f.config, {}});
  uint64_t seed = 1;
  const auto add = [&](const std::string& name, uint64_t rows, uint64_t cols) {
    std::vector<float> v = normal_values(rows * cols, seed++);
    for (float& x : v) x *= 0.02F;
    g.tensors.push_back({name, {cols, rows}, type, quantize(v, cols)});
  };
  const auto norm = [&](const std::string& name) {
    g.tensors.push_back({name, {256}, 0, dtype_bytes("F32", plain_values(256, seed++))});
  };
  add("token_embd.weight", 40, 256);
  norm("blk.0.attn_norm.weight");
  add("blk.0.attn_q.weight", 256, 256);
  add("blk.0.attn_k.weight", 128, 256);
  add("blk.0.attn_v.weight", 128, 256);
  add("blk.0.attn_output.weight", 256, 256);
  norm("blk.0.ffn_norm.weight");
  add("blk.0.ffn_gate.weight", 256, 256);
  add("blk.0.ffn_up.weight", 256, 256);
  add("blk.0.ffn_down.weight", 256, 256);
  norm("output_norm.weight");
  return g;
}

}  // namespace nyb::test
