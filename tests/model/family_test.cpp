// family_test.cpp - the families' config.json, key by key: what each means, what is taken where it is absent, what is refused.
#include "model/family.h"

#include <gtest/gtest.h>

#include <cmath>

#include "model/format.h"
#include "model/rope.h"
#include "model/source.h"
#include "support/family_folder.h"

namespace nyb {
namespace {
using nlohmann::json;
using test::family_case;
using test::family_folder;
using test::message_of;
using test::says;
using U32s = std::vector<uint32_t>;

ModelSource source_of(const json& config) { return hf_open(family_folder(config).write("family").string()); }

// One of the cases with some keys changed; those that are discarded values are taken out.
json changed(const std::string& name, const json& keys) {
  json c = family_case(name).config;
  for (const auto& [k, v] : keys.items())
    if (v == "ABSENT")
      c.erase(k);
    else
      c[k] = v;
  return c;
}
ModelSource with(const std::string& name, const json& keys) { return source_of(changed(name, keys)); }
// The tensors are those of the case as it is.
std::string message(const std::string& name, const json& keys) {
  test::HfFolder f = family_folder(family_case(name).config);
  f.config = changed(name, keys);
  return message_of([&] { hf_open(f.write("family").string()); });
}
std::string rope_message(const json& parameters, const char* key = "rope_scaling") {
  json keys = {{"rope_scaling", "ABSENT"}};
  keys[key] = parameters;
  return message("llama3", keys);
}

TEST(Family, EachIsFoundByItsNames) {
  for (const Family& f : families()) {
    EXPECT_EQ(family_find(f.name), &f);
    EXPECT_EQ(family_of_hf(f.hf_architecture), &f);
  }
  EXPECT_EQ(family_names(&Family::name), "llama, mistral, qwen2, qwen3, smollm3");
  EXPECT_EQ(family_names(&Family::gguf), "llama, qwen2, qwen3, smollm3");
  EXPECT_EQ(family_of_gguf("llama"), family_find("llama"));
  EXPECT_EQ(family_find("gemma"), nullptr);
  EXPECT_EQ(every_no_rope(0, 9), U32s{});
  EXPECT_EQ(every_no_rope(4, 11), (U32s{3, 7}));
  EXPECT_EQ(every_no_rope(4, 12), (U32s{3, 7, 11}));
  EXPECT_EQ(every_no_rope(UINT32_MAX, 12), U32s{});
}

// What a file says comes back from it; what a family lacks leaves no key.
TEST(Family, GoesThroughAFile) {
  for (const test::FamilyCase& c : test::family_cases()) {
    SCOPED_TRACE(c.name);
    const auto folder = family_folder(c.config).write("file-" + c.name);
    const ModelSource s = hf_open(folder.string());
    const auto m = test::folder_model(folder, TType::f32);
    const ModelShape &a = s.shape, &b = m->shape;
    EXPECT_EQ(m->meta.get<std::string>(key::family), c.config["model_type"]);
    EXPECT_EQ(a.qkv_bias, b.qkv_bias);
    EXPECT_EQ(a.o_bias, b.o_bias);
    EXPECT_EQ(a.qk_norm, b.qk_norm);
    EXPECT_EQ(a.no_rope, b.no_rope);
    EXPECT_EQ(a.windows, b.windows);
    EXPECT_EQ(a.rope_freqs, b.rope_freqs);
    EXPECT_EQ(a.rope_factor, b.rope_factor);
    for (const char* k : {key::qkv_bias, key::o_bias, key::qk_norm}) {
      const bool is = k == key::qkv_bias ? b.qkv_bias : k == key::o_bias ? b.o_bias : b.qk_norm;
      ASSERT_EQ(m->meta.has(k), is) << k;
      EXPECT_TRUE(!is || m->meta.entries().at(k).required) << k;
    }
    EXPECT_EQ(m->meta.has(key::rope_none), !b.no_rope.empty());
    EXPECT_EQ(m->meta.has(key::windows), !b.windows.empty());
    for (const LayerTensors& l : m->layers) {
      EXPECT_EQ(l.q_bias != nullptr, b.qkv_bias);
      EXPECT_EQ(l.k_bias != nullptr && l.v_bias != nullptr, b.qkv_bias);
      EXPECT_EQ(l.o_bias != nullptr, b.o_bias);
      EXPECT_EQ(l.q_norm != nullptr && l.k_norm != nullptr, b.qk_norm);
    }
  }
}

TEST(Family, WhatEachCaseIs) {
  const auto shape = [](const char* name) { return source_of(family_case(name).config).shape; };
  EXPECT_TRUE(shape("llama").qkv_bias && shape("llama").o_bias);
  EXPECT_FALSE(shape("llama3").qkv_bias || shape("llama3").qk_norm);
  EXPECT_TRUE(shape("qwen2").qkv_bias && !shape("qwen2").o_bias);
  EXPECT_EQ(shape("qwen2").windows, (U32s{0, 0, 40, 40}));
  EXPECT_EQ(shape("mistral").windows, (U32s{24, 24, 24, 24}));
  EXPECT_TRUE(shape("qwen3").qk_norm && !shape("qwen3").qkv_bias);
  EXPECT_EQ(shape("qwen3").head_dim, 20u);
  EXPECT_EQ(shape("smollm3").no_rope, (U32s{1, 3}));
  EXPECT_EQ(shape("smollm3").rope_factor, 1.2f);
  EXPECT_EQ(shape("qwen2").rope_factor, static_cast<float>(yarn_magnitude(4)));
}

TEST(Family, DefaultsAreThoseOfTransformers) {
  const json none = {{"rms_norm_eps", "ABSENT"}, {"rope_theta", "ABSENT"},   {"rope_parameters", "ABSENT"},
                     {"rope_scaling", "ABSENT"}, {"hidden_act", "ABSENT"},   {"max_position_embeddings", "ABSENT"},
                     {"model_type", "ABSENT"},   {"sliding_window", nullptr}};
  for (const Family& f : families()) {
    SCOPED_TRACE(f.name);
    const std::string name(f.name);
    test::HfFolder folder = family_folder(family_case(name).config);
    folder.config = changed(name, none);
    const ModelSource s = hf_open(folder.write("defaults").string());
    EXPECT_EQ(s.shape.ctx, f.name == "llama" ? 2048u : f.name == "mistral" ? 131072u : 32768u);
    EXPECT_EQ(s.meta.get<double>(key::norm_eps), 1e-6);
    RopeRule r;
    r.theta = f.name == "smollm3" ? 2e6 : 1e4;
    EXPECT_EQ(s.shape.rope_freqs, rope_frequencies(r, s.shape.head_dim));
    EXPECT_EQ(s.tied, f.name == "qwen3" || f.name == "smollm3");  // the case of qwen3 says so
  }
  // shapes that do not fit what the tensors have tell what was taken
  EXPECT_TRUE(
      says(message("qwen3", {{"head_dim", "ABSENT"}}), "q_proj.weight has shape [80, 48] where config.json asks for [512, 48]"));
  for (const char* name : {"qwen2", "qwen3"})
    EXPECT_TRUE(says(message(name, {{"num_key_value_heads", "ABSENT"}}), "4 heads are not a multiple of 32")) << name;
  EXPECT_TRUE(says(message("mistral", {{"num_key_value_heads", "ABSENT"}}), "4 heads are not a multiple of 8"));
  EXPECT_TRUE(says(message("smollm3", {{"num_key_value_heads", "ABSENT"}}),
                   "k_proj.weight has shape [24, 48] where config.json asks for [48, 48]"));
  EXPECT_TRUE(says(message("qwen2", {{"num_key_value_heads", nullptr}}),
                   "k_proj.weight has shape [24, 48] where config.json asks for [48, 48]"));
}

TEST(Family, Biases) {
  EXPECT_TRUE(says(message("llama", {{"attention_bias", false}}), "self_attn.k_proj.bias\" is not part of a llama model"));
  EXPECT_TRUE(says(message("llama3", {{"attention_bias", true}}), "tensor model.layers.0.self_attn.q_proj.bias is missing"));
  EXPECT_TRUE(says(message("mistral", {{"attention_bias", true}}), "attention_bias is true"));
  for (const bool b : {false, true}) EXPECT_EQ(message("qwen2", {{"attention_bias", b}}), "") << "it always has them";
  EXPECT_TRUE(with("qwen3", {{"attention_bias", true}}).shape.o_bias);
  EXPECT_TRUE(with("smollm3", {{"attention_bias", true}}).shape.qkv_bias);
  for (const test::FamilyCase& c : test::family_cases()) {
    EXPECT_TRUE(says(message(c.name, {{"mlp_bias", true}}), "mlp_bias is true"));
    EXPECT_TRUE(says(message(c.name, {{"model_type", "gpt2"}}), "model_type is \"gpt2\"; this program runs \""));
  }
  test::HfFolder f = family_folder(family_case("qwen2").config);
  f.at("model.layers.1.self_attn.v_proj.bias").shape = {1, 24};
  EXPECT_TRUE(says(message_of([&] { hf_open(f.write("family").string()); }),
                   "model.layers.1.self_attn.v_proj.bias has shape [1, 24] where config.json asks for [24]"));
  f = family_folder(family_case("qwen3").config);
  f.erase("model.layers.2.self_attn.k_norm.weight");
  EXPECT_TRUE(
      says(message_of([&] { hf_open(f.write("family").string()); }), "tensor model.layers.2.self_attn.k_norm.weight is missing"));
}

TEST(Family, Windows) {
  const auto windows = [](const char* name, const json& keys) { return with(name, keys).shape.windows; };
  EXPECT_EQ(windows("mistral", {{"sliding_window", nullptr}}), U32s{});
  EXPECT_EQ(windows("mistral", {{"sliding_window", 320}}), U32s{}) << "it holds the whole context";
  EXPECT_EQ(windows("mistral", {{"sliding_window", 319}}), (U32s{319, 319, 319, 319}));
  EXPECT_EQ(windows("mistral", {{"sliding_window", "ABSENT"}}), U32s{}) << "4096";
  EXPECT_EQ(windows("mistral", {{"sliding_window", "ABSENT"}, {"max_position_embeddings", 4097}}), (U32s(4, 4096)));
  EXPECT_EQ(windows("qwen2", {{"use_sliding_window", false}}), U32s{});
  EXPECT_EQ(windows("qwen2", {{"use_sliding_window", "ABSENT"}}), U32s{});
  EXPECT_EQ(windows("qwen2", {{"sliding_window", nullptr}}), U32s{});
  EXPECT_EQ(windows("qwen2", {{"max_window_layers", 4}}), U32s{});
  EXPECT_EQ(windows("qwen2", {{"max_window_layers", "ABSENT"}}), U32s{}) << "28";
  EXPECT_EQ(windows("qwen3", {{"use_sliding_window", true}, {"sliding_window", 9}, {"max_window_layers", 3}}), (U32s{0, 0, 0, 9}));
  const json types = {"sliding_attention", "full_attention", "full_attention", "sliding_attention"};
  EXPECT_EQ(windows("qwen2", {{"layer_types", types}}), (U32s{40, 0, 0, 40}));
  EXPECT_EQ(windows("smollm3", {{"use_sliding_window", true}, {"sliding_window", 8}}), (U32s{0, 8, 0, 8})) << "those without RoPE";
  EXPECT_EQ(windows("smollm3", {{"use_sliding_window", true}}), U32s{}) << "it has no default";
  EXPECT_TRUE(
      says(message("qwen2", {{"layer_types", {"full_attention"}}}), "layer_types is not a list with an entry for each layer"));
  json odd = types;
  odd[2] = "chunked_attention";
  EXPECT_TRUE(says(message("qwen2", {{"layer_types", odd}}), "layer_types[2] is \"\\x22chunked_attention\\x22\", which"));
  EXPECT_TRUE(says(message("mistral", {{"layer_types", types}}), "layer_types is set"));
  EXPECT_TRUE(says(message("mistral", {{"sliding_window", 0}}), "sliding_window is 0"));
  EXPECT_TRUE(says(message("mistral", {{"sliding_window", "4096"}}), "sliding_window is"));
  EXPECT_TRUE(says(message("llama3", {{"sliding_window", 4096}}), "sliding_window is set"));
  EXPECT_TRUE(says(message("llama3", {{"use_sliding_window", true}}), "use_sliding_window is true"));
}

TEST(Family, LayersWithoutRope) {
  const auto none = [](const json& keys) { return with("smollm3", keys).shape.no_rope; };
  EXPECT_EQ(none({{"no_rope_layers", {0, 1, 1, 0}}}), (U32s{0, 3}));
  EXPECT_EQ(none({{"no_rope_layers", {1, 1, 1, 1}}}), U32s{});
  EXPECT_EQ(none({{"no_rope_layers", nullptr}}), U32s{3});
  EXPECT_EQ(none({{"no_rope_layers", "ABSENT"}, {"no_rope_layer_interval", 2}}), (U32s{1, 3}));
  EXPECT_EQ(none({{"no_rope_layers", "ABSENT"}, {"no_rope_layer_interval", "ABSENT"}}), U32s{3});
  EXPECT_TRUE(
      says(message("smollm3", {{"no_rope_layers", {1, 0, 1}}}), "no_rope_layers is not a list with an entry for each layer"));
  EXPECT_TRUE(says(message("smollm3", {{"no_rope_layers", {1, 0, 2, 1}}}), "no_rope_layers[2] is \"2\", which this program"));
  EXPECT_TRUE(
      says(message("smollm3", {{"no_rope_layers", "ABSENT"}, {"no_rope_layer_interval", 0}}), "no_rope_layer_interval is 0"));
}

// The old form and the new one are one.
TEST(Family, RopeInBothForms) {
  const json scaling = family_case("llama3").config["rope_scaling"];
  json parameters = scaling;
  parameters["rope_theta"] = 10000.0;
  parameters["attention_factor"] = nullptr;
  const ModelShape old_form = with("llama3", {}).shape;
  const ModelShape new_form =
      with("llama3", {{"rope_scaling", "ABSENT"}, {"rope_theta", "ABSENT"}, {"rope_parameters", parameters}}).shape;
  EXPECT_EQ(old_form.rope_freqs, new_form.rope_freqs);
  EXPECT_EQ(with("llama3", {{"rope_parameters", scaling}}).shape.rope_freqs, old_form.rope_freqs);
  RopeRule r{.scaling = RopeScaling::llama3, .factor = 8, .original_ctx = 64};
  EXPECT_EQ(old_form.rope_freqs, rope_frequencies(r, 12));
  EXPECT_TRUE(says(message("llama3", {{"rope_parameters", parameters}}), "rope_scaling and rope_parameters are both there"));
  parameters["rope_theta"] = 5.0;
  EXPECT_TRUE(says(message("llama3", {{"rope_scaling", "ABSENT"}, {"rope_parameters", parameters}}),
                   "rope_theta is 10000, but 5 in rope_parameters"));
  EXPECT_EQ(rope_message({{"rope_type", "default"}}), "");
  EXPECT_EQ(rope_message({{"type", "default"}}), "");
  EXPECT_EQ(rope_message(json::object()), "");
}

TEST(Family, YarnStretchesTheContext) {
  const auto shape = [](const json& p) { return with("llama3", {{"rope_scaling", p}}).shape; };
  const ModelShape s = shape({{"rope_type", "yarn"}, {"factor", 4.0}});
  EXPECT_EQ(s.ctx, 1280u);
  EXPECT_EQ(s.rope_freqs, shape({{"type", "yarn"}, {"factor", 4.0}, {"original_max_position_embeddings", 320}}).rope_freqs);
  EXPECT_EQ(shape({{"type", "yarn"}, {"factor", 4.0}, {"original_max_position_embeddings", 32}}).ctx, 320u);
  const ModelShape by_ratio = shape({{"type", "yarn"}, {"original_max_position_embeddings", 80}});
  EXPECT_EQ(by_ratio.rope_freqs, shape({{"type", "yarn"}, {"factor", 4}, {"original_max_position_embeddings", 80}}).rope_freqs);
  const auto factor = [&](const char* k, const json& v) {
    json p = {{"type", "yarn"}, {"factor", 4.0}, {"mscale", 0.7}, {"finetuned", true}};
    p[k] = v;
    return shape(p).rope_factor;
  };
  const auto plain = static_cast<float>(yarn_magnitude(4));
  EXPECT_EQ(factor("mscale_all_dim", 0), plain);
  EXPECT_EQ(factor("mscale_all_dim", 0.5), static_cast<float>(yarn_magnitude(4, 0.7) / yarn_magnitude(4, 0.5)));
  EXPECT_EQ(factor("attention_factor", 1.5), 1.5f);
  EXPECT_EQ(factor("attention_factor", nullptr), plain);
  EXPECT_TRUE(says(rope_message({{"type", "yarn"}, {"factor", 1e9}}), "ctx is 4294967295, which is not within"));
}

TEST(Family, RopeThatIsRefused) {
  const char* rest = "do not run; those that do are default, linear, llama3, yarn";
  for (const char* type : {"dynamic", "longrope", "su", "mrope"})
    EXPECT_TRUE(
        says(rope_message({{"rope_type", type}, {"factor", 2.0}}), "positions of the type \"" + std::string(type) + "\" " + rest));
  EXPECT_TRUE(says(rope_message({{"factor", 2.0}}), "rope_scaling: \"factor\" is set, but no rope_type"));
  EXPECT_TRUE(says(rope_message({{"full_attention", {{"rope_type", "default"}}}}, "rope_parameters"),
                   "rope_parameters: \"full_attention\" is set"));
  EXPECT_TRUE(says(rope_message({{"rope_type", "linear"}}), "rope_scaling: factor is missing"));
  EXPECT_TRUE(says(rope_message({{"rope_type", "linear"}, {"factor", 0.5}}), "factor is 0.5, which is not a finite number from 1"));
  EXPECT_TRUE(says(rope_message({{"rope_type", "linear"}, {"factor", "2"}}), "factor is"));
  EXPECT_TRUE(says(rope_message({{"rope_type", "linear"}, {"factor", 2}, {"beta_fast", 3}}),
                   "\"beta_fast\" is set, which this program does not know of the type \"linear\""));
  EXPECT_TRUE(says(rope_message({{"rope_type", "default"}, {"factor", 2}}), "\"factor\" is set, which this program does not know"));
  EXPECT_TRUE(says(rope_message({{"rope_type", "default"}, {"partial_rotary_factor", 0.5}}), "partial_rotary_factor is 0.5"));
  json p = family_case("llama3").config["rope_scaling"];
  for (const char* k : {"factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings"}) {
    json less = p;
    less.erase(k);
    EXPECT_TRUE(says(rope_message(less), std::string("rope_scaling: ") + k + " is missing"));
    less[k] = -1;
    EXPECT_TRUE(says(rope_message(less), std::string("rope_scaling: ") + k + " is -1, which is not a finite number"));
  }
  p["low_freq_factor"] = 4.0;
  EXPECT_TRUE(says(rope_message(p), "low_freq_factor 4 is not below high_freq_factor 4"));
  EXPECT_TRUE(says(rope_message({{"type", "yarn"}}), "rope_scaling: factor is missing"));
  EXPECT_TRUE(says(rope_message({{"type", "yarn"}, {"factor", 2}, {"beta_fast", 1}, {"beta_slow", 2}}),
                   "beta_fast 1 is below beta_slow 2"));
  EXPECT_TRUE(says(rope_message({{"type", "yarn"}, {"factor", 2}, {"attention_factor", 0}}), "attention_factor is 0"));
  EXPECT_TRUE(
      says(message("llama3", {{"rope_scaling", {{"type", "yarn"}, {"factor", 2}}}, {"rope_theta", 1}}), "yarn needs it above 1"));
  EXPECT_TRUE(says(message("llama3", {{"rope_theta", 1e-300}}), "rope_theta is 1e-300, which is not a finite number above zero"));
  EXPECT_TRUE(says(message("llama3", {{"rope_theta", 1e-30}}), "which is too high for 320 positions"));
}

}  // namespace
}  // namespace nyb
