#include "weights.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <random>

#include "model/format.h"
#include "model/quant.h"
#include "model/repack.h"
#include "model/writer.h"
#include "support/data.h"
#include "support/ggml_blocks.h"

namespace nyb::test {
namespace {

using nlohmann::json;

constexpr std::pair<const char*, const char*> kNames[] = {
    {"attn_norm", "input_layernorm"}, {"q", "self_attn.q_proj"}, {"k", "self_attn.k_proj"},
    {"v", "self_attn.v_proj"},        {"o", "self_attn.o_proj"}, {"ffn_norm", "post_attention_layernorm"},
    {"gate", "mlp.gate_proj"},        {"up", "mlp.up_proj"},     {"down", "mlp.down_proj"}};

std::vector<float> tensor_of(const std::string& file, const json& entry) {
  const size_t data = 8 + *reinterpret_cast<const uint64_t*>(file.data());
  const size_t b = entry["data_offsets"][0], e = entry["data_offsets"][1];
  const char* p = file.data() + data + b;
  if (entry["dtype"] == "F32") {
    std::vector<float> v((e - b) / 4);
    std::memcpy(v.data(), p, e - b);
    return v;
  }
  std::vector<float> v((e - b) / 2);
  for (size_t i = 0; i < v.size(); i++) {
    uint16_t half;
    std::memcpy(&half, p + 2 * i, 2);
    v[i] = std::bit_cast<float>(static_cast<uint32_t>(half) << 16);
  }
  return v;
}

void add_rope(ModelShape& s, double base) {
  for (uint32_t i = 0; i < s.head_dim / 2; i++) s.rope_freqs.push_back(std::pow(base, -2.0 * i / s.head_dim));
}

Meta meta_of(const ModelShape& s) {
  Meta m;
  m.set(key::family, std::string("llama"));
  m.set(key::name, std::string("test"));
  m.set(key::norm_eps, static_cast<double>(s.norm_eps));
  m.set(key::act, std::string("silu"));
  m.set(key::attn_scale, static_cast<double>(s.attn_scale));
  m.set(key::rope_style, std::string("half"));
  m.set(key::rope_freqs, s.rope_freqs);
  m.set(key::rope_factor, static_cast<double>(s.rope_factor));
  if (s.qkv_bias) m.set(key::qkv_bias, uint64_t{1}, true);
  if (s.o_bias) m.set(key::o_bias, uint64_t{1}, true);
  if (s.qk_norm) m.set(key::qk_norm, uint64_t{1}, true);
  if (!s.no_rope.empty()) m.set(key::rope_none, s.no_rope, true);
  if (!s.windows.empty()) m.set(key::windows, s.windows, true);
  return m;
}

// ggml's types: row by row as its blocks, whose last is filled up with zeros, then repacked.
std::vector<uint8_t> ggml_panels(const std::vector<float>& w, TType type, size_t rows, size_t cols) {
  std::vector<uint8_t> out(tensor_bytes(type, rows, cols));
  const size_t bytes = panel_bytes(type, cols), whole = groups_of(cols) * kGroup;
  for (size_t p = 0; p < panels_of(rows); p++) {
    std::vector<std::vector<uint8_t>> blocks;
    for (size_t r = p * kPanelRows; r < std::min(rows, (p + 1) * kPanelRows); r++)
      blocks.push_back(ggml_blocks_of(w, type, r, cols));
    std::vector<const uint8_t*> at;
    for (const auto& b : blocks) at.push_back(b.data());
    repack_panel(type, at, whole, out.data() + p * bytes);
  }
  return out;
}

std::vector<uint8_t> panels(const std::vector<float>& w, TType type, size_t rows, size_t cols) {
  if (is_ggml(type)) return ggml_panels(w, type, rows, cols);
  std::vector<uint8_t> out(tensor_bytes(type, rows, cols));
  const size_t bytes = panel_bytes(type, cols);
  std::vector<float> scales(panels_of(rows) * kPanelRows);
  for (size_t p = 0; p < panels_of(rows); p++)
    quant_panel(type, w.data() + p * kPanelRows * cols, std::min(kPanelRows, rows - p * kPanelRows), cols, false,
                out.data() + p * bytes, scales.data() + p * kPanelRows);
  if (type == TType::q8) std::memcpy(out.data() + panels_of(rows) * bytes, scales.data(), scales.size() * 4);
  return out;
}

}  // namespace

std::vector<uint8_t> ggml_blocks_of(const std::vector<float>& w, TType type, size_t row, size_t cols) {
  const auto from = w.begin() + static_cast<ptrdiff_t>(row * cols);
  std::vector<float> values(from, from + static_cast<ptrdiff_t>(cols));
  values.resize(groups_of(cols) * kGroup);
  return ggml_row(type, values);
}

std::map<std::string, std::vector<float>> hf_tensors(const std::string& folder) {
  const std::string file = read_file(folder + "/model.safetensors");
  const json index = json::parse(file.substr(8, *reinterpret_cast<const uint64_t*>(file.data())));
  std::map<std::string, std::vector<float>> all;
  for (const auto& [name, entry] : index.items())
    if (name != "__metadata__") all[name] = tensor_of(file, entry);
  return all;
}

Weights hf_weights(const std::string& folder) {
  const json c = json::parse(read_file(folder + "/config.json"));
  auto tensors = hf_tensors(folder);
  Weights w;
  ModelShape& s = w.shape;
  s.layers = c["num_hidden_layers"];
  s.dim = c["hidden_size"];
  s.heads = c["num_attention_heads"];
  s.kv_heads = c["num_key_value_heads"];
  s.head_dim = s.dim / s.heads;
  s.ffn = c["intermediate_size"];
  s.vocab = c["vocab_size"];
  s.ctx = c["max_position_embeddings"];
  s.norm_eps = c["rms_norm_eps"];
  s.attn_scale = static_cast<float>(1 / std::sqrt(static_cast<double>(s.head_dim)));
  add_rope(s, c["rope_theta"]);
  w.at["embed"] = std::move(tensors.at("model.embed_tokens.weight"));
  w.at["out_norm"] = std::move(tensors.at("model.norm.weight"));
  for (uint32_t l = 0; l < s.layers; l++)
    for (const auto& [ours, theirs] : kNames)
      w.at["layers." + std::to_string(l) + "." + ours] =
          std::move(tensors.at("model.layers." + std::to_string(l) + "." + theirs + ".weight"));
  return w;
}

Weights random_weights(const ModelShape& shape, bool tied, uint64_t seed) {
  Weights w{shape, tied, {}};
  if (w.shape.norm_eps == 0) w.shape.norm_eps = 1e-5f;
  if (w.shape.attn_scale == 0) w.shape.attn_scale = static_cast<float>(1 / std::sqrt(static_cast<double>(shape.head_dim)));
  if (w.shape.rope_freqs.empty()) add_rope(w.shape, 10000);
  std::mt19937_64 rng(seed);
  for (const TensorSlot& slot : model_slots(w.shape, tied)) {
    const double size = slot.matrix ? std::sqrt(3.0 / static_cast<double>(slot.cols)) : 0.25;  // uniform; products keep their size
    std::vector<float>& v = w.at[slot.name];
    for (uint64_t i = 0; i < slot.rows * slot.cols; i++) {
      const double u = static_cast<double>(rng() >> 11) * 0x1p-52 - 1;
      v.push_back(static_cast<float>(u * size + (slot.name.ends_with("norm") ? 1 : 0)));
    }
  }
  return w;
}

std::unique_ptr<Model> make_model(const Weights& w, const TypeOf& type, const Meta* meta) {
  static int count = 0;
  const std::string path = (tmp_dir() / ("model" + std::to_string(count++) + ".mnm")).string();
  std::vector<TensorPlan> plan;
  for (const TensorSlot& slot : model_slots(w.shape, w.tied))
    plan.push_back({slot.name, slot.matrix ? type(slot.name) : TType::vec, slot.rows, slot.cols});
  MnmWriter out(path, w.shape, meta ? *meta : meta_of(w.shape), plan);
  for (const TensorPlan& t : plan) {
    const std::vector<float>& v = w.at.at(t.name);
    if (t.type == TType::vec) {
      out.tensor(v.data(), v.size() * 4);
    } else {
      const std::vector<uint8_t> bytes = panels(v, t.type, t.rows, t.cols);
      out.tensor(bytes.data(), bytes.size());
    }
  }
  out.finish();
  return eng_load(path);
}

std::unique_ptr<Model> retyped(const Model& m, const TypeOf& type) {
  Weights w{m.shape, m.head == m.embed, {}};
  for (const Tensor& t : m.tensors) {
    std::vector<float>& v = w.at[t.name];
    if (t.type == TType::vec) {
      v.assign(t.vec(), t.vec() + t.cols);
      continue;
    }
    v.resize(t.rows * t.cols);
    for (uint64_t r = 0; r < t.rows; r++) tensor_row(t, r, v.data() + r * t.cols);
  }
  return make_model(w, type, &m.meta);
}

}  // namespace nyb::test
