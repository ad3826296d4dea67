// hf_config.cpp - the keys of config.json, honoured or refused by name.
#include "model/hf_config.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "kern/error.h"
#include "model/family.h"
#include "model/format.h"
#include "model/hf_rope.h"
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

  double positive(const char* key, double v) const {
    if (!(v > 0 && std::isfinite(v)))
      throw Error(fmt::format("{}: {} is {}, which is not a finite number above zero", path_, key, v));
    return v;
  }

  bool is_null(const char* key) const {
    const auto it = o_.find(key);
    return it != o_.end() && it->is_null();
  }
  const json& all() const { return o_; }
  const std::string& path() const { return path_; }

 private:
  const json& o_;
  const std::string& path_;
};

const Family& architecture(const json& o, const std::string& path) {
  const auto a = o.find("architectures");
  if (a == o.end() || !a->is_array() || a->size() != 1 || !(*a)[0].is_string())
    throw Error(path + ": architectures does not name one architecture");
  const auto& s = (*a)[0].get_ref<const std::string&>();
  if (const Family* f = family_of_hf(s)) return *f;
  throw Error(fmt::format("{}: the architecture is {}, which this program does not run; those it runs are {}", path, shown(s),
                          family_names(&Family::hf_architecture)));
}

// A list with an entry for each layer, which `entry` turns into a bool; more than there are layers are allowed, as transformers
// does.
template <class F>
std::optional<std::vector<bool>> layer_list(const json& o, const char* key, uint32_t layers, const std::string& path, F&& entry) {
  const auto it = o.find(key);
  if (it == o.end() || it->is_null()) return std::nullopt;
  if (!it->is_array() || it->size() < layers)
    throw Error(fmt::format("{}: {} is not a list with an entry for each layer", path, key));
  std::vector<bool> out;
  for (uint32_t l = 0; l < layers; l++) {
    const std::optional<bool> v = entry((*it)[l]);
    if (!v) throw Error(fmt::format("{}: {}[{}] is {}, which this program does not know", path, key, l, shown((*it)[l].dump())));
    out.push_back(*v);
  }
  return out;
}

std::vector<uint32_t> no_rope(const Config& c, const Family& f, uint32_t layers) {
  if (f.no_rope_interval == 0) return {};
  const auto turns = layer_list(c.all(), "no_rope_layers", layers, c.path(), [](const json& v) -> std::optional<bool> {
    if (v == 0 || v == 1) return v == 1;  // 1: the layer has RoPE, whatever the key's name says
    return std::nullopt;
  });
  if (!turns) return every_no_rope(c.size("no_rope_layer_interval", f.no_rope_interval), layers);
  std::vector<uint32_t> out;
  for (uint32_t l = 0; l < layers; l++)
    if (!(*turns)[l]) out.push_back(l);
  return out;
}

// Which layers slide where the config does not list them.
bool slides(const Config& c, const Family& f, const ModelShape& s, uint32_t layer) {
  switch (f.windows) {
    case Windows::none: return false;
    case Windows::every_layer: return true;
    case Windows::last_layers: return layer >= json_u64(c.all(), "max_window_layers", c.path()).value_or(28);
    case Windows::no_rope_layers: return !s.turns(layer);
  }
  return false;
}

// A window that holds the whole context is none.
std::vector<uint32_t> windows(const Config& c, const Family& f, const ModelShape& s) {
  if (f.windows == Windows::none) c.absent("sliding_window");
  if (f.windows == Windows::every_layer)
    c.absent("layer_types");  // transformers' own classes differ in whether they look at it
  else if (!json_bool(c.all(), "use_sliding_window", c.path()).value_or(false))
    return {};
  else if (f.windows == Windows::none)
    c.is_false("use_sliding_window");
  if (c.is_null("sliding_window") || (f.window == 0 && !c.all().contains("sliding_window"))) return {};
  const uint32_t window = c.size("sliding_window", f.window);
  const auto listed = layer_list(c.all(), "layer_types", s.layers, c.path(), [](const json& v) -> std::optional<bool> {
    if (v == "sliding_attention" || v == "full_attention") return v == "sliding_attention";
    return std::nullopt;
  });
  std::vector<uint32_t> out;
  bool any = false;
  for (uint32_t l = 0; l < s.layers; l++) {
    const bool slide = window < s.ctx && (listed ? (*listed)[l] : slides(c, f, s, l));
    out.push_back(slide ? window : 0);
    any = any || slide;
  }
  return any ? out : std::vector<uint32_t>{};
}

}  // namespace

bool hf_config(const std::string& path, ModelShape& s, Meta& meta) {
  const MappedFile file(path);
  constexpr uint64_t most = 1 << 20;
  if (file.size() > most)
    throw Error(fmt::format("{}: the file has {} bytes, more than the {} that are read", path, file.size(), most));
  const json o = json_strict(file.bytes(), path, 16);
  if (!o.is_object()) throw Error(path + ": this is not a JSON object");
  const Config c(o, path);
  const Family& f = architecture(o, path);
  c.word("model_type", f.name);
  c.word("hidden_act", "silu");
  if (f.biases == Biases::none) c.is_false("attention_bias");
  c.is_false("mlp_bias");
  c.is_false("rope_interleaved");
  c.absent("quantization_config");
  s.qkv_bias = f.biases == Biases::qkv;
  if (f.biases == Biases::asked) s.qkv_bias = s.o_bias = json_bool(o, "attention_bias", path).value_or(false);
  s.qk_norm = f.qk_norm;

  s.layers = c.size("num_hidden_layers");
  s.dim = c.size("hidden_size");
  s.heads = c.size("num_attention_heads");
  s.kv_heads = c.size("num_key_value_heads", f.kv_heads == 0 || c.is_null("num_key_value_heads") ? s.heads : f.kv_heads);
  if (!json_u64(o, "head_dim", path) && f.head_dim == 0 && s.dim % s.heads != 0)
    throw Error(fmt::format("{}: hidden_size {} is not a multiple of {} heads, and head_dim is not given", path, s.dim, s.heads));
  s.head_dim = c.size("head_dim", f.head_dim == 0 ? s.dim / s.heads : f.head_dim);
  s.ffn = c.size("intermediate_size");
  s.vocab = c.size("vocab_size");
  const HfRope rope = hf_rope(o, path, c.size("max_position_embeddings", f.ctx), f.rope_theta);
  s.ctx = rope.ctx;
  shape_check(s, path);
  s.rope_freqs = rope_frequencies(rope.rule, s.head_dim);
  s.rope_factor = rope.factor;
  s.no_rope = no_rope(c, f, s.layers);
  s.windows = windows(c, f, s);

  const double eps = c.positive("rms_norm_eps", json_f64(o, "rms_norm_eps", path).value_or(f.norm_eps));
  if (const auto small = static_cast<float>(std::min(eps, 1e38)); eps > 1e38 || small == 0)
    throw Error(fmt::format("{}: rms_norm_eps is {}, which a float does not hold", path, eps));
  family_meta(f, s, eps, path, meta);
  return json_bool(o, "tie_word_embeddings", path).value_or(f.tied);
}

}  // namespace nyb
