#include "llama2c_file.h"

namespace nyb::test {
namespace {

using Floats = std::vector<float>;

// Pairs 2i, 2i + 1 of a head become i, i + 3 (heads of six).
Floats halves(const Floats& w) {
  constexpr size_t order[] = {0, 2, 4, 1, 3, 5}, cols = Llama2cFile::dim;
  Floats out;
  for (size_t head = 0; head < w.size(); head += 6 * cols)
    for (const size_t r : order)
      out.insert(out.end(), w.begin() + static_cast<std::ptrdiff_t>(head + r * cols),
                 w.begin() + static_cast<std::ptrdiff_t>(head + (r + 1) * cols));
  return out;
}

float factor(size_t i) { return static_cast<float>(1 + i / Llama2cFile::group % 3); }

std::string quantized(const Floats& w) {
  std::string q, scales;
  for (size_t i = 0; i < w.size(); i++) {
    q += static_cast<char>(static_cast<int>(w[i] / factor(i) * 128));
    if (i % Llama2cFile::group == 0) scales += dtype_bytes("F32", {factor(i) / 128});
  }
  return q + scales;
}

}  // namespace

std::string ints(const std::vector<int32_t>& v) { return {reinterpret_cast<const char*>(v.data()), 4 * v.size()}; }

Llama2cFile::Llama2cFile(bool is_tied) : tied(is_tied) {
  const auto add = [&](const std::string& name, size_t n, bool matrix) {
    Floats v = plain_values(n, values.size() + 1);
    for (size_t i = 0; matrix && i < n; i++) v[i] *= factor(i);
    values[name] = v;
  };
  add("embed", vocab * dim, true);
  for (uint64_t l = 0; l < layers; l++) {
    const std::string at = "." + std::to_string(l);
    add("attn_norm" + at, dim, false);
    add("ffn_norm" + at, dim, false);
    add("wq" + at, dim * dim, true);
    add("wk" + at, kv_heads * head * dim, true);
    add("wv" + at, kv_heads * head * dim, true);
    add("wo" + at, dim * dim, true);
    for (const char* w : {"w1", "w2", "w3"}) add(w + at, ffn * dim, true);
  }
  add("norm", dim, false);
  if (!tied) add("output", vocab * dim, true);
}

std::string Llama2cFile::bytes(int version) const {
  const std::vector<int32_t> fields = {
      dim, ffn, layers, heads, kv_heads, version == 0 && !tied ? -static_cast<int32_t>(vocab) : static_cast<int32_t>(vocab), ctx};
  const auto f32 = [&](const std::string& name) { return dtype_bytes("F32", values.at(name)); };
  const auto each = [&](const std::string& name, bool q) {
    std::string all;
    for (uint64_t l = 0; l < layers; l++) {
      const std::string at = name + "." + std::to_string(l);
      all += q ? quantized(values.at(at)) : f32(at);
    }
    return all;
  };
  if (version == 0) {
    std::string b = ints(fields) + f32("embed");
    for (const char* name : {"attn_norm", "wq", "wk", "wv", "wo", "ffn_norm", "w1", "w2", "w3"}) b += each(name, false);
    b += f32("norm") + dtype_bytes("F32", Floats(ctx * head, 0.5F));  // cosines and sines, which nobody reads
    return tied ? b : b + f32("output");
  }
  const bool q = version == 2;
  const auto matrix = [&](const char* name) { return q ? quantized(values.at(name)) : f32(name); };
  std::string b = ints({0x616b3432, version}) + ints(fields) + std::string(1, tied ? '\1' : '\0');
  if (q) b += ints({static_cast<int32_t>(group)});
  b.resize(256, '\0');
  b += each("attn_norm", false) + each("ffn_norm", false) + f32("norm") + matrix("embed");
  for (const char* name : {"wq", "wk", "wv", "wo", "w1", "w2", "w3"}) b += each(name, q);
  return tied ? b : b + matrix("output");
}

HfFolder Llama2cFile::hf() const {
  HfFolder f = tiny_model("F32", tied);
  f.config["num_attention_heads"] = heads;
  f.config["num_key_value_heads"] = kv_heads;
  f.tensors.clear();
  const auto add = [&](const std::string& name, const std::vector<uint64_t>& shape, const Floats& v) {
    f.tensors.push_back({name + ".weight", "F32", shape, dtype_bytes("F32", v)});
  };
  constexpr uint64_t kv = kv_heads * head;
  add("model.embed_tokens", {vocab, dim}, values.at("embed"));
  for (uint64_t l = 0; l < layers; l++) {
    const std::string p = "model.layers." + std::to_string(l) + ".", at = "." + std::to_string(l);
    add(p + "input_layernorm", {dim}, values.at("attn_norm" + at));
    add(p + "self_attn.q_proj", {dim, dim}, halves(values.at("wq" + at)));
    add(p + "self_attn.k_proj", {kv, dim}, halves(values.at("wk" + at)));
    add(p + "self_attn.v_proj", {kv, dim}, values.at("wv" + at));
    add(p + "self_attn.o_proj", {dim, dim}, values.at("wo" + at));
    add(p + "post_attention_layernorm", {dim}, values.at("ffn_norm" + at));
    add(p + "mlp.gate_proj", {ffn, dim}, values.at("w1" + at));
    add(p + "mlp.up_proj", {ffn, dim}, values.at("w3" + at));
    add(p + "mlp.down_proj", {dim, ffn}, values.at("w2" + at));
  }
  add("model.norm", {dim}, values.at("norm"));
  if (!tied) add("lm_head", {vocab, dim}, values.at("output"));
  return f;
}

}  // namespace nyb::test
