#include "hf_folder.h"

#include <cstring>
#include <fstream>

#include "model/convert.h"
#include "model/model.h"
#include "model/source.h"
#include "support/data.h"

namespace nyb::test {
namespace fs = std::filesystem;
using nlohmann::json;

std::string dtype_bytes(const std::string& dtype, const std::vector<float>& v) {
  std::string out;
  for (const float x : v) {
    uint32_t b;
    std::memcpy(&b, &x, 4);
    if (dtype == "F32") {
      out.append(reinterpret_cast<const char*>(&b), 4);
    } else if (dtype == "BF16") {
      out.append(reinterpret_cast<const char*>(&b) + 2, 2);
    } else {  // F16 of values that are normal there and need no rounding
      const uint32_t e = b >> 23 & 255;
      const auto h = static_cast<uint16_t>((b >> 16 & 0x8000) |
                                           (e == 0     ? 0
                                            : e == 255 ? 31u << 10
                                                       : (e - 112) << 10) |
                                           (b >> 13 & 0x3ff));
      out.append(reinterpret_cast<const char*>(&h), 2);
    }
  }
  return out;
}

std::vector<float> plain_values(size_t n, uint64_t seed) {
  std::vector<float> v(n);
  uint64_t s = seed * 2654435761u + 12345;
  for (float& x : v) {
    s = s * 6364136223846793005u + 1442695040888963407u;
    x = static_cast<float>(static_cast<int>(s >> 56) - 128) / 128.0f;
  }
  return v;
}

HfTensor& HfFolder::at(const std::string& name) {
  for (HfTensor& t : tensors)
    if (t.name == name) return t;
  throw std::logic_error("no tensor " + name);
}

void HfFolder::erase(const std::string& name) {
  std::erase_if(tensors, [&](const HfTensor& t) { return t.name == name; });
}

std::string safetensors(const std::string& header, const std::string& data, uint64_t length) {
  if (length == UINT64_MAX) length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), 8) + header + data;
}

std::string safetensors(const std::vector<HfTensor>& tensors) {
  json h = json::object();
  h["__metadata__"] = {{"format", "pt"}};
  std::string data;
  for (const HfTensor& t : tensors) {
    h[t.name] = {{"dtype", t.dtype}, {"shape", t.shape}, {"data_offsets", {data.size(), data.size() + t.bytes.size()}}};
    data += t.bytes;
  }
  return safetensors(h.dump(), data);
}

fs::path write_file(const fs::path& p, const std::string& bytes) {
  fs::create_directories(p.parent_path());
  std::ofstream(p, std::ios::binary) << bytes;
  return p;
}

fs::path HfFolder::write(const std::string& folder, int shards) const {
  fs::path dir = tmp_dir() / folder;
  fs::remove_all(dir);
  write_file(dir / "config.json", config.dump(1));
  if (shards == 1) {
    write_file(dir / "model.safetensors", safetensors(tensors));
    return dir;
  }
  std::vector<std::vector<HfTensor>> parts(static_cast<size_t>(shards));
  json map = json::object();
  for (size_t i = 0; i < tensors.size(); i++) {
    const size_t k = i * 7 % parts.size();  // neighbours apart
    parts[k].push_back(tensors[i]);
    map[tensors[i].name] = "model-" + std::to_string(k) + ".safetensors";
  }
  for (size_t k = 0; k < parts.size(); k++)
    write_file(dir / ("model-" + std::to_string(k) + ".safetensors"), safetensors(parts[k]));
  write_file(dir / "model.safetensors.index.json", json{{"metadata", {{"total_size", 1}}}, {"weight_map", map}}.dump());
  return dir;
}

HfFolder tiny_model(const std::string& dtype, bool tied) {
  constexpr uint64_t dim = 24, heads = 2, kv = 1, hd = 6, ffn = 20, vocab = 19, layers = 2;
  HfFolder f;
  f.config = {{"architectures", {"LlamaForCausalLM"}},
              {"model_type", "llama"},
              {"hidden_size", dim},
              {"intermediate_size", ffn},
              {"num_hidden_layers", layers},
              {"num_attention_heads", heads},
              {"num_key_value_heads", kv},
              {"head_dim", hd},
              {"vocab_size", vocab},
              {"max_position_embeddings", 16},
              {"rms_norm_eps", 1e-5},
              {"rope_theta", 10000.0},
              {"hidden_act", "silu"},
              {"tie_word_embeddings", tied},
              {"attention_bias", false},
              {"mlp_bias", false},
              {"rope_scaling", nullptr}};
  const auto add = [&](const std::string& name, const std::vector<uint64_t>& shape) {
    uint64_t n = 1;
    for (const uint64_t d : shape) n *= d;
    f.tensors.push_back({name, dtype, shape, dtype_bytes(dtype, plain_values(n, f.tensors.size() + 1))});
  };
  add("model.embed_tokens.weight", {vocab, dim});
  for (uint64_t l = 0; l < layers; l++) {
    const std::string p = "model.layers." + std::to_string(l) + ".";
    add(p + "input_layernorm.weight", {dim});
    add(p + "self_attn.q_proj.weight", {heads * hd, dim});
    add(p + "self_attn.k_proj.weight", {kv * hd, dim});
    add(p + "self_attn.v_proj.weight", {kv * hd, dim});
    add(p + "self_attn.o_proj.weight", {dim, heads * hd});
    add(p + "post_attention_layernorm.weight", {dim});
    add(p + "mlp.gate_proj.weight", {ffn, dim});
    add(p + "mlp.up_proj.weight", {ffn, dim});
    add(p + "mlp.down_proj.weight", {dim, ffn});
  }
  add("model.norm.weight", {dim});
  if (!tied) add("lm_head.weight", {vocab, dim});
  return f;
}

fs::path tiny_mnm(const std::string& name, const std::string& type, const std::string& head, bool tied) {
  const auto parse = [](const std::string& s) { return s == "f32" ? TType::f32 : s == "q4" ? TType::q4 : TType::q8; };
  const fs::path dir = tiny_model("F32", tied).write(name + "-hf");
  fs::path out = tmp_dir() / (name + ".mnm");
  ConvertOptions o;
  o.type = parse(type);
  o.head = parse(head.empty() ? type : head);
  convert(hf_open(dir.string()), out.string(), o);
  return out;
}

std::unique_ptr<Model> folder_model(const fs::path& folder, TType type) {
  const fs::path out = folder.string() + "-" + std::string(ttype_name(type)) + ".mnm";
  ConvertOptions o;
  o.type = o.head = type;
  convert(hf_open(folder.string()), out.string(), o);
  return eng_load(out.string());
}

const std::string& tiny_file() {
  static const std::string bytes = read_file(tiny_mnm("tiny", "q8", "f32", false));
  return bytes;
}

std::string load_message(const std::string& bytes) {
  const fs::path p = write_file(tmp_dir() / "case.mnm", bytes);
  return message_of([&] { eng_load(p.string()); });
}

::testing::AssertionResult says(const std::string& message, const std::string& part) {
  if (message.empty()) return ::testing::AssertionFailure() << "no error, where \"" << part << "\" was to be said";
  if (message.find('\n') != std::string::npos) return ::testing::AssertionFailure() << "more than one line: " << message;
  if (message.find(part) == std::string::npos) return ::testing::AssertionFailure() << "\"" << part << "\" is not in: " << message;
  return ::testing::AssertionSuccess();
}

}  // namespace nyb::test
