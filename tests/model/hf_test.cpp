// Folders: what config.json may say, and tensors that are missing, extra or of another shape.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>

#include "hf_folder.h"
#include "kern/dmath.h"
#include "model/source.h"
#include "support/data.h"

namespace nyb {
namespace {
namespace fs = std::filesystem;
using nlohmann::json;
using test::HfFolder;
using test::message_of;
using test::says;

std::string open_message(const HfFolder& f, int shards = 1) {
  return message_of([&] { hf_open(f.write("hf", shards).string()); });
}

// the tiny model with one key of config.json changed, or erased where `v` is discarded
std::string config_message(const char* k, const json& v) {
  HfFolder f = test::tiny_model();
  if (v.is_discarded())
    f.config.erase(k);
  else
    f.config[k] = v;
  return open_message(f);
}
const json kErased = json(json::value_t::discarded);

TEST(HfConfig, WhatIsNotRunIsRefused) {
  EXPECT_EQ(open_message(test::tiny_model()), "");
  EXPECT_TRUE(says(config_message("architectures", {"GemmaForCausalLM"}),
                   "the architecture is \"GemmaForCausalLM\", which this program does not run; those it runs are LlamaForCausalLM, "
                   "MistralForCausalLM, Qwen2ForCausalLM, Qwen3ForCausalLM, SmolLM3ForCausalLM"));
  EXPECT_TRUE(says(config_message("architectures", kErased), "architectures does not name one"));
  EXPECT_TRUE(says(config_message("architectures", json::array({"LlamaForCausalLM", "X"})), "architectures does not name one"));
  EXPECT_TRUE(says(config_message("architectures", json::array({5})), "architectures does not name one"));
  EXPECT_TRUE(says(config_message("model_type", "qwen2"), "model_type is \"qwen2\""));
  EXPECT_TRUE(says(config_message("hidden_act", "gelu"), "hidden_act is \"gelu\"; this program runs \"silu\" only"));
  EXPECT_TRUE(says(config_message("attention_bias", true), "tensor model.layers.0.self_attn.q_proj.bias is missing"));
  EXPECT_TRUE(says(config_message("mlp_bias", true), "mlp_bias is true"));
  EXPECT_TRUE(says(config_message("mlp_bias", "yes"), "mlp_bias is \"\\x22yes\\x22\" where true or false belongs"));
  EXPECT_TRUE(says(config_message("rope_scaling", 2.0), "rope_scaling is neither null nor an object"));
  EXPECT_TRUE(says(config_message("partial_rotary_factor", 0.5), "partial_rotary_factor is 0.5"));
  EXPECT_TRUE(says(config_message("quantization_config", {{"bits", 4}}), "quantization_config is set"));
  EXPECT_TRUE(says(config_message("sliding_window", 4096), "sliding_window is set"));
  EXPECT_EQ(config_message("sliding_window", nullptr), "");
  EXPECT_EQ(config_message("some_new_key", {1, 2}), "");
}

TEST(HfConfig, Sizes) {
  for (const char* k : {"num_hidden_layers", "hidden_size", "num_attention_heads", "intermediate_size", "vocab_size"}) {
    EXPECT_TRUE(says(config_message(k, kErased), std::string(k) + " is missing"));
    EXPECT_TRUE(says(config_message(k, nullptr), std::string(k) + " is missing"));
    EXPECT_TRUE(says(config_message(k, 0), std::string(k) + " is 0"));
    EXPECT_TRUE(says(config_message(k, -1), std::string(k) + " is \"-1\" where a whole number from 0 belongs"));
    EXPECT_TRUE(says(config_message(k, 2.5), std::string(k) + " is \"2.5\""));
    EXPECT_TRUE(says(config_message(k, "8"), std::string(k) + " is"));
    EXPECT_TRUE(says(config_message(k, UINT64_MAX), std::string(k) + " is 18446744073709551615"));
    EXPECT_NE(config_message(k, UINT32_MAX), "");
  }
  EXPECT_TRUE(says(config_message("num_key_value_heads", 3), "2 heads are not a multiple of 3"));
  EXPECT_TRUE(says(config_message("num_key_value_heads", 2),
                   "self_attn.k_proj.weight has shape [6, 24] where config.json asks for [12, 24]"));
  EXPECT_TRUE(says(config_message("head_dim", 5), "head_dim is 5, which is not even"));
  EXPECT_TRUE(says(config_message("head_dim", kErased), "q_proj.weight has shape [12, 24] where config.json asks for [24, 24]"));
  HfFolder f = test::tiny_model();
  f.config.erase("head_dim");
  f.config["num_attention_heads"] = 5;
  EXPECT_TRUE(says(open_message(f), "hidden_size 24 is not a multiple of 5 heads, and head_dim is not given"));
}

TEST(HfConfig, Defaults) {
  HfFolder f = test::tiny_model();
  // no head_dim: 24 / 4; no key/value heads: as many as heads
  f.config.erase("head_dim");
  f.config.erase("num_key_value_heads");
  f.config["num_attention_heads"] = 4;
  for (const char* k : {"rope_theta", "rms_norm_eps", "hidden_act", "model_type", "attention_bias", "mlp_bias", "rope_scaling",
                        "max_position_embeddings"})
    f.config.erase(k);
  for (auto& t : f.tensors)
    if (t.name.find("self_attn") != std::string::npos) {
      t.shape = {24, 24};
      t.bytes = test::dtype_bytes("F32", test::plain_values(576, 9));
    }
  const ModelSource s = hf_open(f.write("defaults").string());
  EXPECT_EQ(s.shape.head_dim, 6u);
  EXPECT_EQ(s.shape.kv_heads, 4u);
  EXPECT_EQ(s.shape.ctx, 2048u);
  EXPECT_EQ(s.meta.get<double>(key::norm_eps), 1e-6);
  EXPECT_EQ(s.meta.get<std::vector<double>>(key::rope_freqs)[1], det_pow(10000, -1.0 / 3));
  EXPECT_EQ(s.meta.get<double>(key::attn_scale), 1 / std::sqrt(6.0));
  EXPECT_EQ(s.meta.get<std::string>(key::name), "defaults");
  EXPECT_EQ(hf_open(f.write("defaults").string() + "/", "My name").meta.get<std::string>(key::name), "My name");
  EXPECT_EQ(hf_open(f.write("defaults").string() + "/.").meta.get<std::string>(key::source_file), "defaults");
}

TEST(HfConfig, RopeTheta) {
  const auto freq = [](const HfFolder& f) {
    return hf_open(f.write("theta").string()).meta.get<std::vector<double>>(key::rope_freqs)[2];
  };
  HfFolder f = test::tiny_model();
  f.config["rope_theta"] = 500000.0;
  EXPECT_EQ(freq(f), det_pow(500000, -4.0 / 6));
  EXPECT_NEAR(freq(f), std::pow(500000, -4.0 / 6), 1e-17);
  f.config["rope_theta"] = 500000;
  EXPECT_EQ(freq(f), det_pow(500000, -4.0 / 6));
  f.config.erase("rope_theta");
  f.config["rope_parameters"] = {{"rope_type", "default"}, {"rope_theta", 1e6}};
  EXPECT_EQ(freq(f), det_pow(1e6, -4.0 / 6));
  for (const json& bad : {json(0), json(-5.0)}) EXPECT_TRUE(says(config_message("rope_theta", bad), "rope_theta is"));
  EXPECT_TRUE(says(config_message("rope_theta", "10000"), "rope_theta is \"\\x2210000\\x22\" where a number belongs"));
  EXPECT_TRUE(says(config_message("rms_norm_eps", 0), "rms_norm_eps is 0"));
}

TEST(HfConfig, JsonThatIsNone) {
  const fs::path dir = test::tiny_model().write("json");
  const auto message = [&](const std::string& text) {
    test::write_file(dir / "config.json", text);
    return message_of([&] { hf_open(dir.string()); });
  };
  EXPECT_TRUE(says(message(""), "config.json: the file is empty"));
  EXPECT_TRUE(says(message("{"), "config.json: this is not valid JSON (at byte"));
  EXPECT_TRUE(says(message("[]"), "config.json: this is not a JSON object"));
  EXPECT_TRUE(says(message("{\"a\":1,\"a\":2}"), "config.json: the key \"a\" is there twice"));
  EXPECT_TRUE(says(message("{\"a\":" + std::string(100000, '[')), "nested more than 16 deep"));
  EXPECT_TRUE(says(message("{}" + std::string(1 << 20, ' ')), "1048578 bytes, more than"));
  EXPECT_TRUE(says(message("{\"rms_norm_eps\": 1e999}"), "config.json: "));
  fs::remove(dir / "config.json");
  EXPECT_TRUE(says(message_of([&] { hf_open(dir.string()); }), "there is no config.json"));
  ASSERT_EQ(mkfifo((dir / "config.json").c_str(), 0600), 0);
  EXPECT_TRUE(says(message_of([&] { hf_open(dir.string()); }), "config.json: this is a FIFO"));
}

TEST(HfTensors, MissingExtraAndMisshapen) {
  for (const char* name : {"model.embed_tokens.weight", "model.norm.weight", "model.layers.1.mlp.down_proj.weight",
                           "model.layers.0.input_layernorm.weight"}) {
    HfFolder f = test::tiny_model();
    f.erase(name);
    EXPECT_TRUE(says(open_message(f), "tensor " + std::string(name) + " is missing"));
  }
  HfFolder f = test::tiny_model();
  f.tensors.push_back({"model.layers.0.self_attn.q_proj.bias", "F32", {12}, std::string(48, '\0')});
  EXPECT_TRUE(says(open_message(f), "tensor \"model.layers.0.self_attn.q_proj.bias\" is not part of a llama model"));
  f = test::tiny_model();
  f.tensors.push_back({"model.layers.0.self_attn.rotary_emb.inv_freq", "F32", {3}, std::string(12, '\0')});
  EXPECT_EQ(open_message(f), "");
  f = test::tiny_model();
  f.config["num_hidden_layers"] = 1;
  EXPECT_TRUE(says(open_message(f), "\"model.layers.1."));
  f.config["num_hidden_layers"] = 3;
  EXPECT_TRUE(says(open_message(f), "tensor model.layers.2.input_layernorm.weight is missing"));
  f = test::tiny_model();
  f.at("model.layers.0.mlp.up_proj.weight").shape = {24, 20};
  EXPECT_TRUE(says(open_message(f), "model.layers.0.mlp.up_proj.weight has shape [24, 20] where config.json asks for [20, 24]"));
  f = test::tiny_model();
  f.at("model.norm.weight").shape = {1, 24};
  EXPECT_TRUE(says(open_message(f), "model.norm.weight has shape [1, 24] where config.json asks for [24]"));
}

TEST(HfTensors, TiedHead) {
  HfFolder f = test::tiny_model("F32", false);
  f.config["tie_word_embeddings"] = true;
  EXPECT_TRUE(says(open_message(f), "lm_head.weight differs from the embedding, but config.json says tie_word_embeddings"));
  f.at("lm_head.weight").bytes = f.at("model.embed_tokens.weight").bytes;
  EXPECT_EQ(open_message(f), "");
  EXPECT_TRUE(hf_open(f.write("tied").string()).tied);
  f = test::tiny_model("F32", true);
  f.config["tie_word_embeddings"] = false;
  EXPECT_TRUE(says(open_message(f), "tensor lm_head.weight is missing, and config.json does not say tie_word_embeddings"));
}

TEST(HfShards, TheIndexIsHeldToItsWord) {
  EXPECT_EQ(open_message(test::tiny_model(), 3), "");
  const fs::path dir = test::tiny_model().write("shards", 3);
  const json good = json::parse(test::read_file(dir / "model.safetensors.index.json"));
  const auto message = [&](const json& index) {
    test::write_file(dir / "model.safetensors.index.json", index.dump());
    return message_of([&] { hf_open(dir.string()); });
  };
  const auto mapped = [&](const char* tensor, const json& file) {
    json j = good;
    j["weight_map"][tensor] = file;
    return message(j);
  };
  EXPECT_EQ(message(good), "");
  EXPECT_TRUE(says(message(json::object()), "weight_map is missing"));
  EXPECT_TRUE(says(message({{"weight_map", 5}}), "weight_map is missing"));
  EXPECT_TRUE(says(mapped("model.norm.weight", 5), "the file of tensor \"model.norm.weight\" is not a string"));
  EXPECT_TRUE(says(mapped("model.norm.weight", "model-9.safetensors"), "model-9.safetensors: cannot open it"));
  for (const char* out : {"../x", "/etc/passwd", "", ".", "..", "a/b"})
    EXPECT_TRUE(says(mapped("model.norm.weight", out), "which is not a file's name")) << out;
  const std::string right = good["weight_map"]["model.norm.weight"];
  const std::string other = right == "model-0.safetensors" ? "model-1.safetensors" : "model-0.safetensors";
  EXPECT_TRUE(
      says(mapped("model.norm.weight", other), "tensor \"model.norm.weight\" is not in \"" + other + "\", where it should be"));
  EXPECT_TRUE(says(mapped("model.more.weight", right), "tensor \"model.more.weight\" is not in"));
  test::write_file(dir / "model.safetensors.index.json", good.dump() + std::string(32 << 20, ' '));
  EXPECT_TRUE(says(message_of([&] { hf_open(dir.string()); }), "more than the 33554432 that are read"));
  json fewer = good;
  fewer["weight_map"].erase("model.norm.weight");
  EXPECT_TRUE(says(message(fewer), "tensor \"model.norm.weight\" is not in the index"));
  // the same tensor in two files
  HfFolder twice = test::tiny_model();
  twice.tensors.push_back({"model.norm.weight", "F32", {24}, std::string(96, '\0')});
  EXPECT_TRUE(says(open_message(twice, 3), "tensor \"model.norm.weight\" is in "));
}

TEST(HfShards, NoWeightsAtAll) {
  const fs::path dir = test::tiny_model().write("none");
  fs::remove(dir / "model.safetensors");
  EXPECT_TRUE(
      says(message_of([&] { hf_open(dir.string()); }), "there is neither model.safetensors nor model.safetensors.index.json"));
  EXPECT_TRUE(says(message_of([&] { hf_open((dir / "config.json").string()); }), "this is not a folder"));
  EXPECT_TRUE(says(message_of([&] { hf_open("/no/such"); }), "/no/such: there is no such folder"));
}

}  // namespace
}  // namespace nyb
