// hf_rope.cpp - the parameters of RoPE, each honoured or refused by name.
#include "model/hf_rope.h"

#include <fmt/format.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <optional>

#include "kern/error.h"
#include "model/json.h"
#include "model/meta_io.h"

namespace nyb {
namespace {
using nlohmann::json;

// transformers' names; what each may have is checked, since an unknown parameter may change the result.
struct Kind {
  std::string_view name;
  RopeScaling scaling;
  std::string_view keys;  // each between blanks
};
constexpr Kind kKinds[] = {
    {"default", RopeScaling::none, " "},
    {"linear", RopeScaling::linear, " factor "},
    {"llama3", RopeScaling::llama3, " factor low_freq_factor high_freq_factor original_max_position_embeddings "},
    {"yarn", RopeScaling::yarn,
     " factor original_max_position_embeddings attention_factor beta_fast beta_slow mscale mscale_all_dim truncate finetuned "}};
constexpr std::string_view kAll = " rope_type type rope_theta partial_rotary_factor ";

bool listed(std::string_view keys, const std::string& key) { return keys.find(" " + key + " ") != std::string_view::npos; }

class Parameters {
 public:
  Parameters(const json& o, std::string where) : o_(o), where_(std::move(where)) {}

  Kind kind() const {
    std::optional<std::string> name = json_str(o_, "rope_type", where_);
    if (!name) name = json_str(o_, "type", where_);
    if (!name) {
      for (const auto& [key, v] : o_.items())
        if (!v.is_null() && !listed(kAll, key)) throw Error(fmt::format("{}: {} is set, but no rope_type", where_, shown(key)));
      return kKinds[0];
    }
    std::string names;
    for (const Kind& k : kKinds) {
      if (k.name == *name) return k;
      names += (names.empty() ? "" : ", ") + std::string(k.name);
    }
    throw Error(fmt::format("{}: positions of the type {} do not run; those that do are {}", where_, shown(*name), names));
  }

  void known(const Kind& kind) const {
    for (const auto& [key, v] : o_.items())
      if (!v.is_null() && !listed(kAll, key) && !listed(kind.keys, key))
        throw Error(
            fmt::format("{}: {} is set, which this program does not know of the type \"{}\"", where_, shown(key), kind.name));
  }

  // At least `least`, and above zero; absent or null: nothing.
  std::optional<double> number(const char* key, double least = 0) const {
    const auto v = json_f64(o_, key, where_);
    if (v && !(*v >= least && *v >= FLT_MIN && *v <= FLT_MAX))
      throw Error(fmt::format("{}: {} is {}, which is not a finite number {}", where_, key, *v,
                              least > 0 ? fmt::format("from {}", least) : "above zero"));
    return v;
  }
  double need(const char* key, double least = 0) const {
    const auto v = number(key, least);
    if (!v) throw Error(fmt::format("{}: {} is missing", where_, key));
    return *v;
  }
  // of yarn: 0 is as good as absent
  double weight(const char* key) const {
    const auto v = json_f64(o_, key, where_);
    return v && *v != 0 ? *number(key) : 0;
  }
  bool flag(const char* key, bool otherwise) const { return json_bool(o_, key, where_).value_or(otherwise); }
  const std::string& where() const { return where_; }

 private:
  const json& o_;
  std::string where_;
};

void llama3(const Parameters& p, RopeRule& r) {
  r.original_ctx = p.need("original_max_position_embeddings", 1);
  r.factor = p.need("factor", 1);
  r.low_freq_factor = p.need("low_freq_factor");
  r.high_freq_factor = p.need("high_freq_factor");
  if (r.low_freq_factor >= r.high_freq_factor)
    throw Error(
        fmt::format("{}: low_freq_factor {} is not below high_freq_factor {}", p.where(), r.low_freq_factor, r.high_freq_factor));
}

void yarn(const Parameters& p, HfRope& rope) {
  RopeRule& r = rope.rule;
  const auto original = p.number("original_max_position_embeddings", 1);
  r.original_ctx = original.value_or(rope.ctx);
  const auto factor = p.number("factor", 1);
  if (!factor && !original) throw Error(p.where() + ": factor is missing");
  r.factor = factor.value_or(std::max(1.0, rope.ctx / r.original_ctx));
  r.beta_fast = p.number("beta_fast").value_or(r.beta_fast);
  r.beta_slow = p.number("beta_slow").value_or(r.beta_slow);
  if (r.beta_fast < r.beta_slow)
    throw Error(fmt::format("{}: beta_fast {} is below beta_slow {}", p.where(), r.beta_fast, r.beta_slow));
  r.truncate = p.flag("truncate", true);
  if (!(r.theta > 1)) throw Error(fmt::format("{}: rope_theta is {}, and yarn needs it above 1", p.where(), r.theta));
  // transformers looks at the two weights only where both are there and not zero
  const double weight = p.weight("mscale"), all = p.weight("mscale_all_dim");
  const double by_weights =
      weight != 0 && all != 0 ? yarn_magnitude(r.factor, weight) / yarn_magnitude(r.factor, all) : yarn_magnitude(r.factor);
  rope.factor = static_cast<float>(p.number("attention_factor").value_or(by_weights));
  // the context in which it was trained, stretched: makers tell to add the scaling and leave max_position_embeddings as it is
  const double stretched = std::min(std::floor(r.original_ctx * r.factor), static_cast<double>(UINT32_MAX));
  rope.ctx = std::max(rope.ctx, static_cast<uint32_t>(stretched));
}

}  // namespace

HfRope hf_rope(const json& config, const std::string& path, uint32_t ctx, double theta) {
  const json none = json::object();
  const json* object = &none;
  std::string where = path;
  for (const char* key : {"rope_scaling", "rope_parameters"}) {
    const auto it = config.find(key);
    if (it == config.end() || it->is_null()) continue;
    if (!it->is_object()) throw Error(fmt::format("{}: {} is neither null nor an object", path, key));
    if (object != &none && *object != *it)
      throw Error(fmt::format("{}: rope_scaling and rope_parameters are both there and say different things", path));
    object = &*it;
    where = fmt::format("{}: {}", path, key);
  }
  const Parameters top(config, path), p(*object, where);
  const Kind kind = p.kind();
  p.known(kind);
  HfRope rope;
  rope.ctx = ctx;
  rope.rule.scaling = kind.scaling;
  // said twice it must be said alike: releases of transformers differ in which of the two they take
  const auto same = [&](const char* key) {
    const auto outer = top.number(key), inner = p.number(key);
    if (outer && inner && *outer != *inner)
      throw Error(fmt::format("{}: {} is {}, but {} in {}", path, key, *outer, *inner, where.substr(path.size() + 2)));
    return inner ? inner : outer;
  };
  rope.rule.theta = same("rope_theta").value_or(theta);
  if (same("partial_rotary_factor").value_or(1) != 1)
    throw Error(fmt::format("{}: partial_rotary_factor is {}; this program runs 1 only", path, *same("partial_rotary_factor")));
  switch (kind.scaling) {
    case RopeScaling::none: break;
    case RopeScaling::linear: rope.rule.factor = p.need("factor", 1); break;
    case RopeScaling::llama3: llama3(p, rope.rule); break;
    case RopeScaling::yarn: yarn(p, rope); break;
  }
  return rope;
}

}  // namespace nyb
