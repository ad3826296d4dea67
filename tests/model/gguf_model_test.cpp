// Models in GGUF: the same as their folders; ggml's types kept as its own library has them; files that are wrong.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "ggml.h"
#include "gguf_model_file.h"
#include "model/convert.h"
#include "model/ggml_type.h"
#include "model/rope.h"
#include "same_model.h"
#include "support/data.h"
#include "support/family_folder.h"

namespace nyb {
namespace {
namespace fs = std::filesystem;
namespace gguf = test::gguf;
using test::Ggml;
using test::GgufMade;
using test::message_of;
using test::says;

fs::path written(const std::string& bytes, const std::string& name = "model.gguf") {
  return test::write_file(test::tmp_dir() / name, bytes);
}
ModelSource opened(const GgufMade& g) { return gguf_open(written(g.bytes()).string()); }
std::string message(const GgufMade& g) {
  return message_of([&] { opened(g); });
}

TEST(GgufModel, IsTheModelOfTheFolder) {
  for (const char* dtype : {"F32", "F16", "BF16"}) {
    for (const bool tied : {true, false}) {
      const test::HfFolder f = test::tiny_model(dtype, tied);
      const ModelSource src = opened(test::gguf_of(f));
      EXPECT_EQ(src.tied, tied);
      test::expect_same_model(src, hf_open(f.write("gguf-hf").string()));
    }
  }
}

// Biases, norms of q and k, layers without RoPE, and scaled positions.
TEST(GgufModel, EachFamilyIsItsFolder) {
  for (const std::string name : {"llama", "qwen2", "qwen3", "smollm3"}) {
    SCOPED_TRACE(name);
    test::HfFolder f = test::family_folder(test::family_case(name).config);
    for (const char* k : {"use_sliding_window", "no_rope_layers", "rope_parameters"}) f.config.erase(k);
    f.config["rope_theta"] = 500000.0;
    const std::string scaling = name + ".rope.scaling.";
    GgufMade g = test::gguf_of(f);
    if (name == "llama") g.set(scaling + "type", gguf::str("linear")).set(scaling + "factor", gguf::f32(2.5F));
    if (name == "qwen2")
      g.set(scaling + "type", gguf::str("yarn"))
          .set(scaling + "factor", gguf::f32(4))
          .set(scaling + "original_context_length", gguf::u32(64));
    const ModelSource src = opened(g);
    EXPECT_EQ(src.shape.qkv_bias, name == "llama" || name == "qwen2");
    EXPECT_EQ(src.shape.qk_norm, name == "qwen3");
    EXPECT_EQ(src.shape.no_rope, name == "smollm3" ? std::vector<uint32_t>{3} : std::vector<uint32_t>{});
    test::expect_same_model(src, hf_open(f.write("gguf-family").string()));
  }
}

TEST(GgufModel, NamesAndDefaults) {
  GgufMade g = test::gguf_of(test::tiny_model());
  ModelSource s = opened(g);
  EXPECT_EQ(s.meta.get<std::string>(key::name), "Own Name");
  EXPECT_EQ(s.meta.get<std::string>(key::source_file), "model.gguf");
  EXPECT_EQ(gguf_open(s.path, "Mine").meta.get<std::string>(key::name), "Mine");
  EXPECT_EQ(source_open(s.path).shape.heads, 2u);
  g.erase("general.name").erase("llama.rope.freq_base").erase("llama.rope.dimension_count");
  s = opened(g);
  EXPECT_EQ(s.meta.get<std::string>(key::name), "model");
  EXPECT_EQ(s.meta.get<std::vector<double>>(key::rope_freqs),
            opened(test::gguf_of(test::tiny_model())).meta.get<std::vector<double>>(key::rope_freqs));
  // per layer, all the same
  g.set("llama.attention.head_count_kv", gguf::list<int32_t>(5, {1, 1}))
      .set("llama.feed_forward_length", gguf::list<uint32_t>(4, {20, 20}));
  EXPECT_EQ(opened(g).shape.kv_heads, 1u);
  g.set("llama.rope.scaling.type", gguf::str("none")).set("llama.expert_count", gguf::u32(0));
  EXPECT_EQ(message(g), "");
}

// rope_freqs.weight divides the frequencies, as Llama 3's files have it.
TEST(GgufModel, FactorsOfTheFrequencies) {
  GgufMade g = test::gguf_of(test::tiny_model());
  const auto plain = opened(g).meta.get<std::vector<double>>(key::rope_freqs);
  g.tensors.push_back({"rope_freqs.weight", {3}, 0, test::dtype_bytes("F32", {1, 2, 8})});
  const auto freqs = opened(g).meta.get<std::vector<double>>(key::rope_freqs);
  EXPECT_EQ(freqs, (std::vector<double>{plain[0], plain[1] / 2, plain[2] / 8}));
  for (const float bad : {0.0F, -1.0F, std::nanf(""), HUGE_VALF}) {
    g.tensors.back().bytes = test::dtype_bytes("F32", {1, bad, 1});
    EXPECT_TRUE(says(message(g), "value 1 of tensor rope_freqs.weight is "));
  }
  g.tensors.back().dims = {2};
  EXPECT_TRUE(says(message(g), "tensor \"rope_freqs.weight\" has shape [2] where the keys ask for [3]"));
}

// Each key of rope.scaling, against the rules that rope_test.cpp holds.
TEST(GgufModel, PositionsAsTheKeysSay) {
  const auto with = [](const std::vector<std::pair<const char*, std::string>>& keys) {
    GgufMade g = test::gguf_of(test::tiny_model());
    g.set("llama.rope.freq_base", gguf::f32(100));
    for (const auto& [key, value] : keys) g.set(std::string("llama.rope.") + key, value);
    return opened(g).shape;
  };
  RopeRule rule;
  rule.theta = 100;
  const auto plain = rope_frequencies(rule, 6);
  EXPECT_EQ(with({}).rope_freqs, plain);
  EXPECT_EQ(with({{"scaling.type", gguf::str("none")}, {"scaling.factor", gguf::f32(2.5F)}}).rope_freqs, plain);
  rule.scaling = RopeScaling::linear;
  rule.factor = 2.5;
  const auto linear = rope_frequencies(rule, 6);
  EXPECT_EQ(with({{"scaling.factor", gguf::f32(2.5F)}}).rope_freqs, linear) << "a factor without a type";
  EXPECT_EQ(with({{"scale_linear", gguf::f32(2.5F)}}).rope_freqs, linear) << "as old files have it";
  rule.scaling = RopeScaling::yarn;
  rule.original_ctx = 64;
  rule.beta_fast = 1;
  rule.beta_slow = 0.25;
  const ModelShape s = with({{"scaling.type", gguf::str("yarn")},
                             {"scaling.factor", gguf::f32(2.5F)},
                             {"scaling.original_context_length", gguf::u32(64)},
                             {"scaling.yarn_beta_fast", gguf::f32(1)},
                             {"scaling.yarn_beta_slow", gguf::f32(0.25F)},
                             {"scaling.attn_factor", gguf::f32(0.5F)}});
  EXPECT_EQ(s.rope_freqs, rope_frequencies(rule, 6));
  EXPECT_EQ(s.rope_factor, static_cast<float>(yarn_magnitude(2.5) * 0.5));
  rule.beta_fast = 4;
  EXPECT_NE(s.rope_freqs, rope_frequencies(rule, 6)) << "the ends of the ramp matter here";
  rule.beta_fast = 1;
  rule.beta_slow = 0.5;
  EXPECT_NE(s.rope_freqs, rope_frequencies(rule, 6));
}

TEST(GgufModel, InParts) {
  const GgufMade whole = test::gguf_of(test::tiny_model());
  GgufMade parts[2] = {whole, {}};
  for (uint16_t n = 0; n < 2; n++) parts[n].set("split.no", gguf::u16(n)).set("split.count", gguf::u16(2));
  parts[0].tensors.clear();
  for (size_t i = 0; i < whole.tensors.size(); i++) parts[i % 2].tensors.push_back(whole.tensors[i]);
  written(parts[0].bytes(), "parts/t-00001-of-00002.gguf");
  const fs::path second = written(parts[1].bytes(), "parts/t-00002-of-00002.gguf");
  test::expect_same_model(gguf_open(second.string()), opened(whole));
}

class Kept : public testing::TestWithParam<GgmlType> {
 protected:
  void SetUp() override {
    ggml_ = Ggml::get();
    ASSERT_TRUE(ggml_);
    type_ = static_cast<uint32_t>(GetParam());
    made_ = test::gguf_with(type_, [&](const std::vector<float>& v, size_t cols) { return ggml_->quantize(type_, v, cols); });
  }

  // Converts as the options say and calls f(mnm's values, ggml's values, columns) for each row of each matrix.
  template <class F>
  void each_row(F&& f) {
    ConvertOptions o;
    o.type = o.head = std::nullopt;
    const std::string out = (test::tmp_dir() / "kept.mnm").string();
    report_ = convert(opened(made_), out, o);
    model_ = eng_load(out);
    for (size_t i = 0; i < made_.tensors.size(); i++) {
      const GgufMade::Tensor& t = made_.tensors[i];
      if (t.dims.size() < 2) continue;
      const Tensor& is = model_->tensors[i];
      const bool pairs = t.name.find("attn_q") != std::string::npos || t.name.find("attn_k") != std::string::npos;
      const std::vector<float> want = ggml_->dequantize(type_, t.bytes);
      std::vector<float> row(t.dims[0]);
      for (size_t r = 0; r < t.dims[1]; r++) {
        tensor_row(is, r, row.data());
        f(row.data(), want.data() + (pairs ? test::paired_row(r, 64) : r) * t.dims[0], t.dims[0]);
      }
    }
  }

  // Of the weights, by conversion to one of the types that are made of floats.
  double error_in(TType type) const {
    ConvertOptions o;
    o.type = o.head = type;
    const auto report = convert(opened(made_), (test::tmp_dir() / "kept-other.mnm").string(), o);
    return error_of(report);
  }
  static double error_of(const ConvertReport& report) {
    ErrorSum e;
    for (const ConvertKind& k : report.kinds)
      if (k.kind != "norms") e.add(k.weights);
    return e.relative();
  }

  const Ggml* ggml_ = nullptr;
  uint32_t type_ = 0;
  GgufMade made_;
  ConvertReport report_;
  std::unique_ptr<Model> model_;
};

class KeptExactly : public Kept {};

TEST_P(KeptExactly, EveryWeightIsGgmls) {
  each_row([&](const float* is, const float* want, size_t n) { ASSERT_EQ(std::memcmp(is, want, n * sizeof(float)), 0); });
  EXPECT_EQ(error_of(report_), 0);
}

INSTANTIATE_TEST_SUITE_P(Gguf, KeptExactly,
                         testing::Values(GgmlType::q8_0, GgmlType::q4_0, GgmlType::q4_k, GgmlType::q6_k, GgmlType::q5_0,
                                         GgmlType::iq4_nl, GgmlType::q3_k, GgmlType::f32),
                         [](const auto& info) { return std::string(ggml_block(info.param).name); });

class KeptNearly : public Kept {};

TEST_P(KeptNearly, WithinHalfAStepOfInt8) {
  const bool scales_only = GetParam() == GgmlType::iq4_xs;
  each_row([&](const float* is, const float* want, size_t n) {
    for (size_t g = 0; g < n; g += 32) {
      float most = 0;
      for (size_t i = g; i < g + 32; i++) most = std::max(most, std::fabs(want[i]));
      // a scale rounded to f16 is wrong by 2^-11 of itself at most, or by 2^-25 where f16 has no more digits, 127 times over; the
      // integers are right, or wrong by half a step and what the division rounds
      for (size_t i = g; i < g + 32; i++) {
        const float bound =
            scales_only ? std::fabs(want[i]) * 0x1p-11F + 127 * 0x1p-25F : 0.501F * (most / 127 * (1 + 0x1p-11F) + 0x1p-24F);
        ASSERT_LE(std::fabs(is[i] - want[i]), bound) << i;
      }
    }
  });
  EXPECT_EQ(model_->type_name, "q8_0");
  const double kept = error_of(report_), q8 = error_in(TType::q8);
  std::printf("%s: weights wrong by %.4f %% as q8_0, %.4f %% as q8\n", std::string(ggml_block(GetParam()).name).c_str(), 100 * kept,
              100 * q8);
  EXPECT_LT(kept, q8);  // why it is the type that is taken
}

INSTANTIATE_TEST_SUITE_P(Gguf, KeptNearly,
                         testing::Values(GgmlType::f16, GgmlType::bf16, GgmlType::q4_1, GgmlType::q5_1, GgmlType::q2_k,
                                         GgmlType::q5_k, GgmlType::iq4_xs),
                         [](const auto& info) { return std::string(ggml_block(info.param).name); });

TEST(GgufModel, WhatTheReportSays) {
  const Ggml* ggml = Ggml::get();
  ASSERT_TRUE(ggml);
  GgufMade g = test::gguf_with(13, [&](const std::vector<float>& v, size_t cols) { return ggml->quantize(13, v, cols); });
  for (GgufMade::Tensor& t : g.tensors)  // as a mix has it: v better than the rest
    if (t.name == "blk.0.attn_v.weight") t = {t.name, t.dims, 14, ggml->quantize(14, ggml->dequantize(13, t.bytes), t.dims[0])};
  ConvertOptions o;
  o.type = std::nullopt;
  o.head = TType::q4;
  const ConvertReport r = convert(opened(g), (test::tmp_dir() / "said.mnm").string(), o);
  std::map<std::string, std::string> types;
  for (const ConvertKind& k : r.kinds) types[k.kind] = k.types;
  EXPECT_EQ(types.at("embed"), "q4");
  EXPECT_EQ(types.at("v"), "q6_K");
  EXPECT_EQ(types.at("up"), "q5_K as q8_0");
  EXPECT_EQ(types.at("norms"), "f32");
}

// Weights that f16 scales cannot hold.
TEST(GgufModel, ScalesThatDoNotFit) {
  test::HfFolder f = test::tiny_model("BF16");
  test::HfTensor& up = f.at("model.layers.0.mlp.up_proj.weight");
  const auto keep = [&](float value) {
    up.bytes = test::dtype_bytes("BF16", std::vector<float>(up.bytes.size() / 2, value));
    ConvertOptions o;
    o.type = o.head = std::nullopt;
    const std::string out = (test::tmp_dir() / "fit.mnm").string();
    const auto notes = convert(opened(test::gguf_of(f)), out, o).notes;
    const auto m = eng_load(out);
    std::vector<float> row(24);
    tensor_row(*m->layers[0].up, 0, row.data());
    EXPECT_NEAR(row[0] / value, 1, 0.004);
    return std::pair(std::string(ttype_name(m->layers[0].up->type)), notes);
  };
  EXPECT_EQ(keep(0x1p22F).first, "q8_0");
  const auto large = keep(0x1p23F);
  EXPECT_EQ(large.first, "q8");
  ASSERT_EQ(large.second.size(), 1u);
  EXPECT_TRUE(
      says(large.second[0],
           "layers.0.up is kept in int8: row 0, columns 0 to 23 have weights up to 8.39e+06, too large for a q8_0 scale in f16"));
  EXPECT_EQ(keep(0x1p-16F).first, "q8_0");
  EXPECT_TRUE(says(keep(0x1p-18F).second.at(0), "too small for a q8_0 scale in f16"));
}

TEST(GgufModel, FilesThatAreWrong) {
  const GgufMade good = test::gguf_of(test::tiny_model());
  ASSERT_EQ(message(good), "");
  const auto with = [&](const std::string& key, const std::string& value) { return message(GgufMade(good).set(key, value)); };
  for (const char* key : {"general.architecture", "llama.block_count", "llama.context_length", "llama.embedding_length",
                          "llama.feed_forward_length", "llama.attention.head_count", "llama.attention.layer_norm_rms_epsilon"})
    EXPECT_TRUE(says(message(GgufMade(good).erase(key)), std::string("model.gguf: key ") + key + " is missing"));
  EXPECT_TRUE(says(with("general.architecture", gguf::str("mamba")),
                   "general.architecture is \"mamba\", which this program does not run; those it runs are llama, qwen2"));
  EXPECT_TRUE(says(with("general.architecture", gguf::u32(1)), "key general.architecture is of type u32, where a string"));
  EXPECT_TRUE(says(with("llama.block_count", gguf::u32(0)), "key llama.block_count is 0, which is not within 1 to 4294967295"));
  EXPECT_TRUE(says(with("llama.block_count", gguf::u64(1ull << 32)), "key llama.block_count is 4294967296, which is not"));
  EXPECT_TRUE(says(with("llama.block_count", gguf::i32(-1)), "key llama.block_count is -1"));
  EXPECT_TRUE(says(with("llama.block_count", gguf::f32(2)), "key llama.block_count is of type f32, where a whole number"));
  EXPECT_TRUE(says(with("llama.block_count", gguf::u32(65537)), "layers is 65537"));
  EXPECT_TRUE(says(with("llama.block_count", gguf::u32(65536)), "tensor blk.2.attn_norm.weight is missing"));
  EXPECT_TRUE(says(with("llama.block_count", gguf::u32(1)), "tensor \"blk.1.attn_norm.weight\" is not part of a llama model"));
  EXPECT_TRUE(says(with("llama.attention.head_count_kv", gguf::list<int32_t>(5, {1, 2})), "has 1 for one layer and 2 for another"));
  EXPECT_TRUE(says(with("llama.attention.head_count_kv", gguf::list<int32_t>(5, {})), "is an empty list"));
  EXPECT_TRUE(says(with("llama.attention.head_count_kv", gguf::list<int32_t>(5, {-1, -1})), "is 0, which is not within"));
  EXPECT_TRUE(says(with("llama.attention.value_length", gguf::u32(8)), "heads of 6 values in keys and 8 in values"));
  EXPECT_TRUE(says(with("llama.embedding_length", gguf::u32(25)),
                   "tensor \"token_embd.weight\" has shape [19, 24] where the keys ask for [19, 25]"));
  EXPECT_TRUE(says(message(GgufMade(good).set("llama.embedding_length", gguf::u32(25)).erase("llama.attention.key_length")),
                   "llama.embedding_length is 25, no multiple of 2 heads, and llama.attention.key_length is missing"));
  EXPECT_TRUE(says(with("llama.rope.dimension_count", gguf::u32(4)), "partial rotation is not run"));
  EXPECT_TRUE(says(with("llama.rope.scaling.type", gguf::str("longrope")),
                   "llama.rope.scaling.type is \"longrope\"; none, linear and yarn are run"));
  EXPECT_TRUE(says(message(GgufMade(good)
                               .set("llama.rope.scaling.type", gguf::str("yarn"))
                               .set("llama.rope.scaling.factor", gguf::f32(2))
                               .set("llama.rope.scaling.original_context_length", gguf::u32(8))
                               .set("llama.rope.scaling.yarn_beta_fast", gguf::f32(0.5F))),
                   "yarn does not run with a base of 10000, beta_fast 0.5 and beta_slow 1"));
  EXPECT_TRUE(
      says(with("llama.attention.sliding_window", gguf::u32(15)), "llama.attention.sliding_window is 15, below the context of 16"));
  for (const uint32_t all : {0u, 16u}) EXPECT_EQ(with("llama.attention.sliding_window", gguf::u32(all)), "");
  EXPECT_TRUE(says(message(GgufMade(good).erase("llama.attention.head_count_kv")),
                   "tensor \"blk.0.attn_k.weight\" has shape [6, 24] where the keys ask for [12, 24]"));
  for (const float bad : {0.0F, -1.0F, std::nanf(""), HUGE_VALF}) {
    EXPECT_TRUE(says(with("llama.attention.layer_norm_rms_epsilon", gguf::f32(bad)), "layer_norm_rms_epsilon is "));
    EXPECT_TRUE(says(with("llama.rope.freq_base", gguf::f32(bad)), "key llama.rope.freq_base is "));
  }
  EXPECT_TRUE(says(with("llama.rope.freq_base", gguf::f64(1e-300)), "llama.rope.freq_base is "));
  EXPECT_TRUE(says(with("llama.rope.freq_base", gguf::f32(1e-30F)), "too high for 16 positions"));
  for (const std::string& value : {gguf::u32(8), gguf::f32(0.5F), gguf::boolean(1), gguf::str(""), gguf::list<uint32_t>(4, {0})})
    EXPECT_TRUE(says(with("llama.expert_count", value), "llama.expert_count is set, which this program does not run"));

  for (const GgufMade::Tensor& t : good.tensors) {
    GgufMade without = good;
    std::erase_if(without.tensors, [&](const GgufMade::Tensor& x) { return x.name == t.name; });
    EXPECT_TRUE(says(message(without), "tensor " + t.name + " is missing"));
    GgufMade other = good;
    for (GgufMade::Tensor& x : other.tensors)
      if (x.name == t.name) x.type = 24, x.bytes.resize(x.bytes.size() / 4);
    EXPECT_TRUE(says(message(other), "tensor \"" + t.name + "\" is of type i8, which is not read"));
  }
  GgufMade more = good;
  more.tensors.push_back({"blk.0.attn_rot_embd", {2}, 0, std::string(8, '\0')});
  EXPECT_EQ(message(more), "");
  more.tensors.push_back({"blk.0.ffn_gate_inp.weight", {2}, 0, std::string(8, '\0')});
  EXPECT_TRUE(says(message(more), "tensor \"blk.0.ffn_gate_inp.weight\" is not part of a llama model"));
}

TEST(GgufModel, AWeightThatIsNotFiniteIsNamedWhereItIs) {
  GgufMade g = test::gguf_of(test::tiny_model());
  for (GgufMade::Tensor& t : g.tensors)
    if (t.name == "blk.1.attn_k.weight") t.bytes.replace((4 * 24 + 5) * 4, 4, test::le(std::nanf("")));
  EXPECT_TRUE(says(message_of([&] { test::converted(opened(g), std::nullopt); }),
                   "model.gguf: weight 101 of tensor blk.1.attn_k.weight (row 4, column 5) is not a finite number"));
}

TEST(GgufModel, Stories260KIsItsBin) {
  NYB_NEED_DATA();
  const fs::path dir = test::data_dir() / "stories260K";
  const ModelSource src = gguf_open((dir / "stories260K-f32.gguf").string());
  EXPECT_EQ(src.meta.get<std::string>(key::name), "stories260K");
  test::expect_same_model(src, llama2c_open((dir / "stories260K.bin").string()));
}

}  // namespace
}  // namespace nyb
