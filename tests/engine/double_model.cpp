#include "double_model.h"

#include <algorithm>
#include <cmath>

#include "support/data.h"
#include "weights.h"

namespace nyb::test {
namespace {
using nlohmann::json;
using Vec = DoubleModel::Vec;

constexpr double kPi = 3.14159265358979323846;

json positions(const json& c) {
  for (const char* k : {"rope_parameters", "rope_scaling"})
    if (c.contains(k) && c[k].is_object()) return c[k];
  return json::object();
}

// Frequencies by their wavelengths in positions: the long ones are stretched, the short ones kept, the others blended.
void llama3(Vec& freqs, const json& p) {
  const double factor = p["factor"], old = p["original_max_position_embeddings"];
  const double longest = old / p["low_freq_factor"].get<double>(), shortest = old / p["high_freq_factor"].get<double>();
  for (double& f : freqs) {
    const double wave = 2 * kPi / f;
    if (wave > longest) {
      f /= factor;
    } else if (wave >= shortest) {
      const double smooth = (old / wave - p["low_freq_factor"].get<double>()) /
                            (p["high_freq_factor"].get<double>() - p["low_freq_factor"].get<double>());
      f = (1 - smooth) * f / factor + smooth * f;
    }
  }
}

// YaRN's "NTK by parts": pairs that turn beta_fast times or more within the old context are kept, those that turn beta_slow times
// or fewer are stretched; between the two pairs it goes over in a line.
void yarn(Vec& freqs, const json& p, size_t head_dim, double base) {
  const double factor = p["factor"], old = p["original_max_position_embeddings"];
  const auto pair = [&](double turns) {
    return static_cast<double>(head_dim) * std::log(old / (turns * 2 * kPi)) / (2 * std::log(base));
  };
  double low = pair(p.value("beta_fast", 32.0)), high = pair(p.value("beta_slow", 1.0));
  if (p.value("truncate", true)) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, static_cast<double>(head_dim) - 1);
  for (size_t i = 0; i < freqs.size(); i++) {
    const double kept = 1 - std::clamp((static_cast<double>(i) - low) / (high - low), 0.0, 1.0);
    freqs[i] = freqs[i] * kept + freqs[i] / factor * (1 - kept);
  }
}

}  // namespace

DoubleModel::DoubleModel(const std::string& folder)
    : c_(json::parse(read_file(folder + "/config.json"))),
      w_(hf_tensors(folder)),
      type_(c_["model_type"]),
      dim_(c_["hidden_size"]),
      heads_(c_["num_attention_heads"]),
      kv_heads_(c_["num_key_value_heads"]),
      head_dim_(c_.contains("head_dim") && c_["head_dim"].is_number() ? c_["head_dim"].get<size_t>() : dim_ / heads_),
      layers_(c_["num_hidden_layers"]),
      k_(layers_),
      v_(layers_) {
  const json p = positions(c_);
  const double base = p.contains("rope_theta") ? p["rope_theta"].get<double>() : c_["rope_theta"].get<double>();
  for (size_t i = 0; i < head_dim_ / 2; i++)
    freqs_.push_back(std::pow(base, -2.0 * static_cast<double>(i) / static_cast<double>(head_dim_)));
  const std::string kind = p.value("rope_type", p.value("type", "default"));
  if (kind == "linear")
    for (double& f : freqs_) f /= p["factor"].get<double>();
  if (kind == "llama3") llama3(freqs_, p);
  if (kind == "yarn") {
    yarn(freqs_, p, head_dim_, base);
    magnitude_ = p.value("attention_factor", 0.1 * std::log(p["factor"].get<double>()) + 1);
  }
}

Vec DoubleModel::linear(const std::string& name, const Vec& x) const {
  const std::vector<float>& w = weight(name + ".weight");
  Vec y(w.size() / x.size(), 0.0);
  for (size_t r = 0; r < y.size(); r++)
    for (size_t k = 0; k < x.size(); k++) y[r] += static_cast<double>(w[r * x.size() + k]) * x[k];
  if (const auto bias = w_.find(name + ".bias"); bias != w_.end())
    for (size_t r = 0; r < y.size(); r++) y[r] += bias->second.at(r);
  return y;
}

Vec DoubleModel::norm(const Vec& x, const std::string& name) const {
  const std::vector<float>& w = weight(name);
  double ss = 0;
  for (const double v : x) ss += v * v;
  const double r = 1 / std::sqrt(ss / static_cast<double>(x.size()) + c_["rms_norm_eps"].get<double>());
  Vec y(x.size());
  for (size_t i = 0; i < x.size(); i++) y[i] = x[i] * r * w.at(i);
  return y;
}

void DoubleModel::norm_heads(Vec& x, const std::string& name) const {
  if (!w_.contains(name)) return;
  for (size_t h = 0; h < x.size(); h += head_dim_) {
    const auto begin = x.begin() + static_cast<std::ptrdiff_t>(h);
    const Vec y = norm(Vec(begin, begin + static_cast<std::ptrdiff_t>(head_dim_)), name);
    std::copy(y.begin(), y.end(), begin);
  }
}

bool DoubleModel::turns(size_t layer) const {
  if (type_ != "smollm3") return true;
  if (c_.contains("no_rope_layers")) return c_["no_rope_layers"][layer] == 1;
  return (layer + 1) % c_["no_rope_layer_interval"].get<size_t>() != 0;
}

void DoubleModel::turn(Vec& x) const {
  const size_t half = head_dim_ / 2;
  for (size_t h = 0; h < x.size(); h += head_dim_)
    for (size_t i = 0; i < half; i++) {
      const double angle = static_cast<double>(pos_) * freqs_[i], c = std::cos(angle) * magnitude_,
                   s = std::sin(angle) * magnitude_;
      const double a = x[h + i], b = x[h + half + i];
      x[h + i] = a * c - b * s;
      x[h + half + i] = b * c + a * s;
    }
}

size_t DoubleModel::window(size_t layer) const {
  if (type_ == "mistral") return c_["sliding_window"].is_null() ? 0 : c_["sliding_window"].get<size_t>();
  if (!c_.value("use_sliding_window", false) || layer < c_["max_window_layers"].get<size_t>()) return 0;
  return c_["sliding_window"];
}

Vec DoubleModel::attend(size_t layer, const Vec& q) const {
  const size_t n = k_[layer].size(), seen = window(layer), first = seen == 0 || seen > n ? 0 : n - seen;
  Vec out(q.size(), 0.0);
  for (size_t h = 0; h < heads_; h++) {
    const size_t qh = h * head_dim_, kh = h / (heads_ / kv_heads_) * head_dim_;
    Vec p;
    double sum = 0;
    for (size_t t = first; t < n; t++) {
      double dot = 0;
      for (size_t d = 0; d < head_dim_; d++) dot += q[qh + d] * k_[layer][t][kh + d];
      p.push_back(std::exp(dot / std::sqrt(static_cast<double>(head_dim_))));
      sum += p.back();
    }
    for (size_t t = first; t < n; t++)
      for (size_t d = 0; d < head_dim_; d++) out[qh + d] += p[t - first] / sum * v_[layer][t][kh + d];
  }
  return out;
}

Vec DoubleModel::step(int32_t id) {
  const auto add = [](Vec& x, const Vec& y) {
    for (size_t i = 0; i < x.size(); i++) x[i] += y[i];
  };
  Vec x(dim_);
  for (size_t i = 0; i < dim_; i++) x[i] = weight("model.embed_tokens.weight")[static_cast<size_t>(id) * dim_ + i];
  for (size_t l = 0; l < layers_; l++) {
    const std::string p = "model.layers." + std::to_string(l) + ".", a = p + "self_attn.";
    const Vec h = norm(x, p + "input_layernorm.weight");
    Vec q = linear(a + "q_proj", h), k = linear(a + "k_proj", h);
    norm_heads(q, a + "q_norm.weight");
    norm_heads(k, a + "k_norm.weight");
    if (turns(l)) {
      turn(q);
      turn(k);
    }
    k_[l].push_back(k);
    v_[l].push_back(linear(a + "v_proj", h));
    add(x, linear(a + "o_proj", attend(l, q)));
    const Vec f = norm(x, p + "post_attention_layernorm.weight"), g = linear(p + "mlp.gate_proj", f);
    Vec u = linear(p + "mlp.up_proj", f);
    for (size_t i = 0; i < u.size(); i++) u[i] *= g[i] / (1 + std::exp(-g[i]));
    add(x, linear(p + "mlp.down_proj", u));
  }
  pos_++;
  return linear(w_.contains("lm_head.weight") ? "lm_head" : "model.embed_tokens", norm(x, "model.norm.weight"));
}

}  // namespace nyb::test
