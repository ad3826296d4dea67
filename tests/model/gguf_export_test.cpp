// Models out to GGUF: what comes back is the model, in the types that hold it to the last byte.
#include "model/gguf_export.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "gguf_model_file.h"
#include "kern/dmath.h"
#include "kern/f16.h"
#include "model/gguf.h"
#include "model/gguf_names.h"
#include "model/gguf_rope.h"
#include "model/rope.h"
#include "same_model.h"
#include "support/data.h"
#include "support/family_folder.h"
#include "support/ggml_blocks.h"

namespace nyb::test {
namespace {
namespace fs = std::filesystem;
using Type = std::optional<GgmlType>;

std::string out_path(const std::string& name) { return (tmp_dir() / (name + ".gguf")).string(); }

ExportReport exported(const ModelSource& src, const std::string& out, Type type) {
  ExportOptions o;
  o.type = o.head = type;
  return gguf_export(src, {}, out, o);
}

// The tensors of a GGUF of blocks of any bytes, with the rows of q and k in pairs.
GgufMade any_blocks(uint32_t number, TType type) {
  uint64_t seed = 40;
  return gguf_with(number, [&](const std::vector<float>& v, size_t) {
    const auto blocks = ggml_random(type, v.size() / ggml_form(type).cols, seed++);
    return std::string(blocks.begin(), blocks.end());
  });
}

// GGUF -> model file -> GGUF -> model file: both have the same bytes in every tensor each time.
class ExportKeeps : public testing::TestWithParam<std::pair<GgmlType, TType>> {};
INSTANTIATE_TEST_SUITE_P(, ExportKeeps,
                         testing::Values(std::pair(GgmlType::q8_0, TType::q80), std::pair(GgmlType::q4_0, TType::q4),
                                         std::pair(GgmlType::q4_k, TType::q4k), std::pair(GgmlType::q6_k, TType::q6k)),
                         [](const auto& p) { return std::string(ttype_name(p.param.second)); });

TEST_P(ExportKeeps, EveryByteOfEveryTensor) {
  const auto [ggml, ttype] = GetParam();
  const GgufMade made = any_blocks(static_cast<uint32_t>(ggml), ttype);
  const std::string in = write_file(tmp_dir() / "in.gguf", made.bytes()).string(), out = out_path("kept");
  const std::string mnm = (tmp_dir() / "first.mnm").string();
  fs::rename(converted(gguf_open(in), std::nullopt), mnm);
  std::vector<Type> ways{std::nullopt};
  if (ggml == GgmlType::q8_0 || ggml == GgmlType::q4_0) ways.emplace_back(ggml);
  for (const Type& way : ways) {
    for (const std::string& from : {mnm, in}) {
      const ExportReport report = exported(from == mnm ? mnm_open(from) : gguf_open(from), out, way);
      EXPECT_EQ(report.notes, std::vector<std::string>{});
      EXPECT_EQ(report.file_bytes, fs::file_size(out));
      const Gguf g(out);
      EXPECT_EQ(g.tensors().size(), made.tensors.size());
      for (const GgufMade::Tensor& t : made.tensors) {
        const GgufTensor* is = g.tensor(t.name);
        ASSERT_NE(is, nullptr) << t.name;
        ASSERT_EQ(is->bytes, t.bytes.size()) << t.name;
        EXPECT_EQ(std::memcmp(is->data, t.bytes.data(), is->bytes), 0) << t.name;
        EXPECT_EQ(is->type->number, t.type) << t.name;
        EXPECT_EQ(is->dims[0], t.dims[0]) << t.name;
      }
    }
    const auto a = eng_load(mnm), b = eng_load(converted(gguf_open(out), std::nullopt));
    ASSERT_EQ(a->tensors.size(), b->tensors.size());
    for (size_t i = 0; i < a->tensors.size(); i++) {
      EXPECT_EQ(a->tensors[i].hash, b->tensors[i].hash) << a->tensors[i].name;
      EXPECT_EQ(a->tensors[i].type, b->tensors[i].type);
    }
  }
}

// Of a model in floats: what is exported in a quantized type comes back as it is, also from a model file of that type.
TEST(Export, QuantizedOnceStaysAsItIs) {
  HfFolder f = family_folder(family_case("qwen3").config);
  for (const auto& [key, value] : std::map<std::string, int>{{"hidden_size", 64}, {"intermediate_size", 96}, {"head_dim", 16}})
    f.config[key] = value;
  f = family_folder(f.config);
  const ModelSource src = hf_open(f.write("once").string());
  for (const GgmlType type : {GgmlType::q8_0, GgmlType::q4_0}) {
    exported(src, out_path("a"), type);
    const ModelSource mnm = mnm_open(converted(gguf_open(out_path("a")), std::nullopt));
    exported(mnm, out_path("b"), type);
    exported(mnm, out_path("c"), std::nullopt);
    const Gguf a(out_path("a")), b(out_path("b")), c(out_path("c"));
    for (const GgufTensor& t : a.tensors())
      for (const Gguf* g : {&b, &c}) {
        ASSERT_NE(g->tensor(t.name), nullptr);
        ASSERT_EQ(g->tensor(t.name)->bytes, t.bytes);
        EXPECT_EQ(std::memcmp(g->tensor(t.name)->data, t.data, t.bytes), 0) << t.name;
      }
  }
}

// int8 with a scale a row: the same integers, the scale in f16.
TEST(Export, Int8KeepsItsIntegers) {
  const HfFolder f = family_folder(family_case("mistral").config);
  HfFolder wide = f;
  wide.config["hidden_size"] = 64;
  wide = family_folder(wide.config);
  const ModelSource mnm = mnm_open(converted(hf_open(wide.write("int8").string()), TType::q8));
  exported(mnm, out_path("int8"), GgmlType::q8_0);
  const Gguf g(out_path("int8"));
  const auto m = mnm.loaded;
  const Tensor& v = *m->layers[1].v;
  const GgufTensor* t = g.tensor("blk.1.attn_v.weight");
  ASSERT_EQ(t->bytes, v.rows * v.cols / 32 * 34);
  std::vector<float> row(v.cols);
  for (uint64_t r = 0; r < v.rows; r++) {
    tensor_row(v, r, row.data());
    const float scale = v.row_scale()[r];
    for (uint64_t c = 0; c < v.cols; c++) {
      const uint8_t* block = t->data + (r * v.cols + c) / 32 * 34;
      uint16_t d;
      std::memcpy(&d, block, 2);
      EXPECT_EQ(d, f32_to_f16(scale));
      EXPECT_EQ(static_cast<float>(static_cast<int8_t>(block[2 + c % 32])) * scale, row[c]);
    }
  }
}

class ExportFamily : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(, ExportFamily, testing::ValuesIn(family_case_names()), [](const auto& p) { return p.param; });

// The folder's model comes back: each tensor's bytes, and frequencies as close as f32 keys and factors say them.
TEST_P(ExportFamily, ComesBack) {
  const std::string folder = llama_cpp_folder(GetParam()).write("family").string();
  const ModelSource src = hf_open(folder);
  const std::string mnm = (tmp_dir() / "family.mnm").string();
  fs::rename(converted(src, TType::f32), mnm);
  for (const bool from_mnm : {false, true}) {
    const ExportReport report = exported(from_mnm ? mnm_open(mnm) : hf_open(folder), out_path("family"), GgmlType::f32);
    const bool window = !src.shape.windows.empty();
    EXPECT_EQ(report.notes.size(), window ? 1 : 0);
    if (window) { EXPECT_TRUE(says(report.notes[0], "the context is cut from 320 to ")); }
    const ModelSource back = gguf_open(out_path("family"));
    const Gguf file(out_path("family"));
    for (const char* part : {".attention.key_length", ".attention.value_length"})
      EXPECT_EQ(file.u64(std::string(file.str("general.architecture").value()) + part), src.shape.head_dim) << part;
    const auto a = eng_load(mnm), b = eng_load(converted(back, TType::f32));
    EXPECT_EQ(b->shape.ctx, GetParam() == "mistral" ? 24u : GetParam() == "qwen2" ? 40u : a->shape.ctx);
    EXPECT_EQ(b->shape.no_rope, a->shape.no_rope);
    EXPECT_EQ(b->shape.norm_eps, a->shape.norm_eps);
    EXPECT_FLOAT_EQ(b->shape.rope_factor, a->shape.rope_factor);
    ASSERT_EQ(a->shape.rope_freqs.size(), b->shape.rope_freqs.size());
    for (size_t i = 0; i < a->shape.rope_freqs.size(); i++)
      EXPECT_NEAR(b->shape.rope_freqs[i], a->shape.rope_freqs[i], 0x1p-22 * a->shape.rope_freqs[i]) << i;
    ASSERT_EQ(a->tensors.size(), b->tensors.size());
    for (size_t i = 0; i < a->tensors.size(); i++) EXPECT_EQ(a->tensors[i].hash, b->tensors[i].hash) << a->tensors[i].name;
  }
}

TEST(Export, WhatLlamaCppDoesNotRunIsRefused) {
  const auto says_of = [](const HfFolder& f) {
    const std::string out = out_path("refused");
    std::string m = message_of([&] { exported(hf_open(f.write("refused").string()), out, GgmlType::f32); });
    EXPECT_FALSE(fs::exists(out));
    return m;
  };
  HfFolder f = family_folder(family_case("smollm3").config);
  EXPECT_TRUE(says(says_of(f), "the layers without RoPE are 1, 3, where llama.cpp's smollm3 has every 4th"));
  f.config.erase("no_rope_layers");
  EXPECT_TRUE(says(says_of(f), "its positions are scaled in a way that a GGUF of this family cannot say"));
  ModelSource scaled = hf_open(tiny_model().write("scaled").string());
  scaled.meta.set(key::attn_scale, 0.5);
  EXPECT_TRUE(says(message_of([&] { exported(scaled, out_path("scaled"), GgmlType::f32); }), "its attention is scaled by 0.5"));
  HfFolder q = family_folder(family_case("qwen3").config);
  q.config["attention_bias"] = true;
  EXPECT_TRUE(says(says_of(family_folder(q.config)), "attention's output has a bias, which llama.cpp does not read in qwen3"));
  q = family_folder(family_case("qwen2").config);
  q.config["head_dim"] = 20;
  EXPECT_TRUE(says(says_of(family_folder(q.config)), "4 heads of 20 are not the width 48"));
}

TEST(Export, RopeFindsTheRule) {
  const auto of = [](const RopeRule& r, uint32_t head_dim, uint32_t ctx, bool factors = false) {
    return gguf_rope(rope_frequencies(r, head_dim), head_dim, ctx, 1, factors, "here");
  };
  for (const double theta : {10000.0, 500000.0, 1e6, 5e6, 123.456}) {
    RopeRule r{.theta = theta};
    GgufRope g = of(r, 128, 4096);
    EXPECT_NEAR(g.base, theta, 1e-9 * theta);
    EXPECT_EQ(g.scaling, "");
    EXPECT_TRUE(g.factors.empty());
    r.scaling = RopeScaling::linear;
    r.factor = 2.5;
    g = of(r, 64, 4096);
    EXPECT_NEAR(g.base, theta, 1e-9 * theta);
    EXPECT_EQ(g.scaling, "linear");
    EXPECT_EQ(g.factor, 2.5);
  }
  // Qwen2.5's, and the same where the context is not the stretched one
  for (const uint32_t ctx : {131072u, 32768u}) {
    const RopeRule r{.theta = 1e6, .scaling = RopeScaling::yarn, .factor = 4, .original_ctx = 32768};
    const GgufRope g = of(r, 128, ctx);
    EXPECT_EQ(g.base, 1e6);
    EXPECT_EQ(g.scaling, "yarn");
    EXPECT_EQ(g.factor, 4);
    RopeRule again = r;
    again.original_ctx = g.original_ctx;
    const auto a = rope_frequencies(r, 128), b = rope_frequencies(again, 128);
    for (size_t i = 0; i < a.size(); i++) EXPECT_NEAR(a[i], b[i], 1e-12 * a[i]);
    if (ctx == 131072) { EXPECT_EQ(g.original_ctx, 32768u); }
    EXPECT_NEAR(g.magnitude, 1 / (0.1 * det_log(4) + 1), 1e-12);  // asked for 1, which yarn's own is not
  }
  const RopeRule llama3{.theta = 500000, .scaling = RopeScaling::llama3, .factor = 32, .original_ctx = 8192};
  const GgufRope g = of(llama3, 64, 131072, true);
  ASSERT_EQ(g.factors.size(), 32u);
  EXPECT_EQ(g.factors[0], 1.0F);
  EXPECT_NEAR(g.factors[15], 3.211445994752591e-3 * 0.6636 / 1.290547928209264e-3, 0.01);
  EXPECT_FLOAT_EQ(g.factors[31], 32.0F);
  EXPECT_TRUE(says(message_of([&] { of(llama3, 64, 131072); }), "here: its positions are scaled in a way"));
  EXPECT_TRUE(says(message_of([&] { gguf_rope({1, 0.5}, 8, 64, 1, true, "here"); }), "here: RoPE turns 2 of 4 pairs"));
}

// One matrix of chosen values; the report's notes about it, and its blocks.
struct Chosen {
  std::string bytes;
  std::vector<std::string> notes;
};
Chosen chosen(const std::vector<float>& first, GgmlType type) {
  HfFolder f = tiny_model("F32", true);
  f.config["intermediate_size"] = 32;
  for (int l = 0; l < 2; l++) {
    const std::string p = "model.layers." + std::to_string(l) + ".mlp.";
    for (const char* n : {"gate_proj", "up_proj", "down_proj"}) {
      HfTensor& t = f.at(p + n + ".weight");
      t.shape = std::string(n) == "down_proj" ? std::vector<uint64_t>{24, 32} : std::vector<uint64_t>{32, 24};
      t.bytes = dtype_bytes("F32", plain_values(size_t{24} * 32, 9));
    }
  }
  std::string& down = f.at("model.layers.1.mlp.down_proj.weight").bytes;
  std::memcpy(down.data(), first.data(), first.size() * sizeof(float));
  Chosen c;
  c.notes = exported(hf_open(f.write("chosen").string()), out_path("chosen"), type).notes;
  const Gguf g(out_path("chosen"));
  const GgufTensor* t = g.tensor("blk.1.ffn_down.weight");
  c.bytes.assign(reinterpret_cast<const char*>(t->data), t->bytes);
  return c;
}
uint16_t u16_at(const std::string& s, size_t i) {
  uint16_t v;
  std::memcpy(&v, s.data() + i, 2);
  return v;
}

TEST(Export, FloatsAreRoundedOrSaturated) {
  const std::vector<float> w{1, -2.5F, 65519.99F, 65520, -1e30F, 1.00048828125F, 0x1p-24F, 3.3e38F};
  Chosen c = chosen(w, GgmlType::f16);
  const uint16_t f16[] = {0x3c00, 0xc100, 0x7bff, 0x7bff, 0xfbff, 0x3c00, 0x0001, 0x7bff};
  for (size_t i = 0; i < w.size(); i++) EXPECT_EQ(u16_at(c.bytes, 2 * i), f16[i]) << i;
  ASSERT_EQ(c.notes.size(), 1u);
  EXPECT_TRUE(says(c.notes[0], "down: 3 values or scales are larger than f16 holds"));
  c = chosen({1, -2.5F, 1.00390625F, 1.01171875F, 1.00390637F, 0x1p-133F, 3.4e38F, -3.4e38F}, GgmlType::bf16);
  // two values in the middle: to the even one; the greatest floats round beyond bf16's
  const uint16_t bf16[] = {0x3f80, 0xc020, 0x3f80, 0x3f82, 0x3f81, 0x0001, 0x7f7f, 0xff7f};
  for (size_t i = 0; i < 8; i++) EXPECT_EQ(u16_at(c.bytes, 2 * i), bf16[i]) << i;
  ASSERT_EQ(c.notes.size(), 1u);
  EXPECT_TRUE(says(c.notes[0], "down: 2 values or scales are larger than bf16 holds"));
}

TEST(Export, ScalesThatF16CannotHold) {
  std::vector<float> w(64, 0.0F);
  w[0] = 1e9F;
  w[1] = -65504.0F * 3;
  w[32] = 1e-9F;
  for (const GgmlType type : {GgmlType::q8_0, GgmlType::q4_0}) {
    const Chosen c = chosen(w, type);
    const bool q8 = type == GgmlType::q8_0;
    EXPECT_EQ(u16_at(c.bytes, 0), 0x7bff);
    EXPECT_EQ(c.bytes[q8 ? 36 : 20], q8 ? 0 : '\x88');
    if (q8) {
      EXPECT_EQ(c.bytes[2], 127);
      EXPECT_EQ(c.bytes[3], -3);
    } else {
      EXPECT_EQ(c.bytes[2] & 15, 15);
      EXPECT_EQ(c.bytes[3] & 15, 5);
    }
    const auto said = [&](const std::string& part) {
      return std::any_of(c.notes.begin(), c.notes.end(), [&](const std::string& n) { return n.find(part) != n.npos; });
    };
    EXPECT_TRUE(said("down: 1 values or scales are larger than f16 holds, and became the greatest that it does"));
    EXPECT_TRUE(said("down: the scales of 1 groups are too small for f16, and their weights became zero"));
    EXPECT_TRUE(said("gate: rows of 24 columns are no whole number of " + std::string(ggml_block(type).name) + "'s blocks of 32"));
  }
}

TEST(Export, AWeightThatIsNotFiniteIsNamed) {
  for (const float bad : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
    const std::string m = message_of([&] { chosen({1, bad}, GgmlType::q8_0); });
    EXPECT_TRUE(says(m, "a weight of tensor model.layers.1.mlp.down_proj.weight (row 0, column 1) is not a finite number"));
  }
}

TEST(Export, StoppedItLeavesNothing) {
  const fs::path dir = tmp_dir() / "stopped";
  fs::create_directories(dir);
  ExportOptions o;
  o.progress = [](uint64_t done, uint64_t) {
    if (done > 500) throw std::runtime_error("stop");
  };
  const ModelSource src = hf_open(tiny_model().write("stopped-model").string());
  EXPECT_THROW(gguf_export(src, {}, (dir / "m.gguf").string(), o), std::runtime_error);
  EXPECT_TRUE(fs::is_empty(dir));
}

}  // namespace
}  // namespace nyb::test
