// hf_config.cpp - the keys of config.json, honoured or refused by name.
#include "model/hf_config.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

#include "kern/dmath.h"
#include "kern/error.h"
#include "model/format.h"
#include "model/json.h"
#include "model/mapped_file.h"
#include "model/meta_io.h"

namespace nyb {
namespace {
using nlohmann::json;

class Config {
 public:
  Config(const json& o, const std::string& path) : o_(o), path_(path) {}

  uint32_t size(const char* key, std::optional<uint64_t> otherwise = {}) const {
    const auto v = json_u64(o_, key, path_);
    if (!v && !otherwise) throw Error(fmt::format("{}: {} is missing", path_, key));
    const uint64_t n = v ? *v : *otherwise;
    if (n == 0 || n > UINT32_MAX) throw Error(fmt::format("{}: {} is {}, which is not within 1 to {}", path_, key, n, UINT32_MAX));
    return static_cast<uint32_t>(n);
  }

  void is_false(const char* key) const {
    if (json_bool(o_, key, path_).value_or(false))
      throw Error(fmt::format("{}: {} is true, which this program does not run yet", path_, key));
  }

  void word(const char* key, std::string_view only) const {
    const auto v = json_str(o_, key, path_);
    if (v && *v != only) throw Error(fmt::format("{}: {} is {}; this program runs \"{}\" only", path_, key, shown(*v), only));
  }

  void absent(const char* key) const {
    if (const auto it = o_.find(key); it != o_.end() && !it->is_null())
      throw Error(fmt::format("{}: {} is set, which this program does not run yet", path_, key));
  }

  // rope_scaling or rope_parameters: no scaling, or the type "default". Returns its rope_theta.
  std::optional<double> rope(const char* key) const {
    const auto it = o_.find(key);
    if (it == o_.end() || it->is_null()) return std::nullopt;
    const std::string where = fmt::format("{}: {}", path_, key);
    if (!it->is_object()) throw Error(where + " is neither null nor an object");
    for (const char* k : {"rope_type", "type"})
      if (const auto t = json_str(*it, k, where); t && *t != "default")
        throw Error(fmt::format("{} asks for positions of the type {}, which this program does not run yet", where, shown(*t)));
    whole(*it, where);
    return json_f64(*it, "rope_theta", where);
  }

  // every value of a head takes part in the rotation
  static void whole(const json& o, const std::string& where) {
    if (const auto f = json_f64(o, "partial_rotary_factor", where); f && *f != 1)
      throw Error(fmt::format("{}: partial_rotary_factor is {}; this program runs 1 only", where, *f));
  }

  double positive(const char* key, double v) const {
    if (!(v > 0 && std::isfinite(v)))
      throw Error(fmt::format("{}: {} is {}, which is not a finite number above zero", path_, key, v));
    return v;
  }

 private:
  const json& o_;
  const std::string& path_;
};

void architecture(const json& o, const std::string& path) {
  const auto a = o.find("architectures");
  if (a == o.end() || !a->is_array() || a->size() != 1 || !(*a)[0].is_string())
    throw Error(path + ": architectures does not name one architecture");
  if (const auto& s = (*a)[0].get_ref<const std::string&>(); s != "LlamaForCausalLM")
    throw Error(fmt::format("{}: the architecture is {}; this program runs \"LlamaForCausalLM\" only", path, shown(s)));
}

}  // namespace

void llama_meta(const ModelShape& s, double theta, double eps, const std::string& where, Meta& meta) {
  std::vector<double> freqs(s.head_dim / 2);
  for (uint32_t i = 0; i < freqs.size(); i++) {
    freqs[i] = det_pow(theta, -2.0 * i / s.head_dim);
    if (!(freqs[i] * s.ctx <= 1073741824.0))  // as a model file is checked, but before the work
      throw Error(fmt::format("{}: rope_theta is {}, too small for {} positions", where, theta, s.ctx));
  }
  meta.set(key::family, std::string("llama"), true);
  meta.set(key::act, std::string("silu"), true);
  meta.set(key::norm_eps, eps, true);
  meta.set(key::attn_scale, 1.0 / std::sqrt(static_cast<double>(s.head_dim)), true);
  meta.set(key::rope_style, std::string("half"), true);
  meta.set(key::rope_freqs, std::move(freqs), true);
  meta.set(key::rope_factor, 1.0, true);
}

bool hf_config(const std::string& path, ModelShape& s, Meta& meta) {
  const MappedFile file(path);
  constexpr uint64_t most = 1 << 20;
  if (file.size() > most)
    throw Error(fmt::format("{}: the file has {} bytes, more than the {} that are read", path, file.size(), most));
  const json o = json_strict(file.bytes(), path, 16);
  if (!o.is_object()) throw Error(path + ": this is not a JSON object");
  const Config c(o, path);
  architecture(o, path);
  c.word("model_type", "llama");
  c.word("hidden_act", "silu");
  c.is_false("attention_bias");
  c.is_false("mlp_bias");
  c.is_false("rope_interleaved");
  c.absent("quantization_config");
  c.absent("sliding_window");
  Config::whole(o, path);

  s.layers = c.size("num_hidden_layers");
  s.dim = c.size("hidden_size");
  s.heads = c.size("num_attention_heads");
  s.kv_heads = c.size("num_key_value_heads", s.heads);
  if (!json_u64(o, "head_dim", path) && s.dim % s.heads != 0)
    throw Error(fmt::format("{}: hidden_size {} is not a multiple of {} heads, and head_dim is not given", path, s.dim, s.heads));
  s.head_dim = c.size("head_dim", s.dim / s.heads);
  s.ffn = c.size("intermediate_size");
  s.vocab = c.size("vocab_size");
  s.ctx = c.size("max_position_embeddings", 2048);
  shape_check(s, path);

  c.rope("rope_scaling");
  const auto of_parameters = c.rope("rope_parameters");
  const double theta = c.positive("rope_theta", json_f64(o, "rope_theta", path).value_or(of_parameters.value_or(10000.0)));
  const double eps = c.positive("rms_norm_eps", json_f64(o, "rms_norm_eps", path).value_or(1e-6));
  if (const auto f = static_cast<float>(std::min(eps, 1e38)); eps > 1e38 || f == 0)
    throw Error(fmt::format("{}: rms_norm_eps is {}, which a float does not hold", path, eps));
  llama_meta(s, theta, eps, path, meta);
  return json_bool(o, "tie_word_embeddings", path).value_or(false);
}

}  // namespace nyb
