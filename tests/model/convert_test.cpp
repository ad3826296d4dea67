// From a folder to a model file and back: every type, every source type, one file or several.
#include "model/convert.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "hf_folder.h"
#include "kern/dmath.h"
#include "model/quant.h"
#include "support/data.h"

namespace nyb {

static void PrintTo(TType t, std::ostream* out) { *out << ttype_name(t); }

namespace {
namespace fs = std::filesystem;
using test::HfFolder;
using test::message_of;
using test::says;

std::string out_path(const std::string& name) { return (test::tmp_dir() / (name + ".mnm")).string(); }

ConvertReport make(const fs::path& folder, const std::string& out, TType type, TType head, bool fit = true) {
  ConvertOptions o;
  o.type = type;
  o.head = head;
  o.fit = fit;
  return convert(hf_open(folder.string()), out, o);
}

std::string bytes_of(const std::string& out) { return test::read_file(out); }

std::vector<float> source_values(const HfFolder& f, const std::string& name) {
  for (const auto& t : f.tensors)
    if (t.name == name) {
      std::vector<float> v(t.bytes.size() / 4);
      std::memcpy(v.data(), t.bytes.data(), t.bytes.size());
      return v;
    }
  ADD_FAILURE() << name;
  return {};
}

// The tensor's rows, as they are in the file, against the source's put through the quantizer alone.
void expect_tensor(const Tensor& t, const std::vector<float>& w, TType type) {
  ASSERT_EQ(t.type, type) << t.name;
  ASSERT_EQ(w.size(), t.rows * t.cols) << t.name;
  std::vector<float> row(t.cols);
  for (uint64_t r = 0; r < t.rows; r++) {
    tensor_row(t, r, row.data());
    std::vector<uint8_t> panel(panel_bytes(type, t.cols));
    float scales[16];
    quant_panel(type, w.data() + r * t.cols, 1, t.cols, true, panel.data(), scales);
    Tensor one;
    one.type = type;
    one.rows = 1;
    one.cols = t.cols;
    if (type == TType::q8) panel.insert(panel.end(), reinterpret_cast<uint8_t*>(scales), reinterpret_cast<uint8_t*>(scales) + 64);
    one.data = panel.data();
    std::vector<float> want(t.cols);
    tensor_row(one, 0, want.data());
    ASSERT_EQ(std::memcmp(row.data(), want.data(), t.cols * 4), 0) << t.name << " row " << r;
    if (type == TType::f32) { ASSERT_EQ(std::memcmp(row.data(), w.data() + r * t.cols, t.cols * 4), 0) << t.name << " row " << r; }
  }
}

class RoundTrip : public ::testing::TestWithParam<TType> {};
INSTANTIATE_TEST_SUITE_P(Types, RoundTrip, ::testing::Values(TType::f32, TType::q8, TType::q4),
                         [](const auto& i) { return std::string(ttype_name(i.param)); });

TEST_P(RoundTrip, EveryTensorComesBack) {
  for (const bool tied : {true, false}) {
    const HfFolder f = test::tiny_model("F32", tied);
    const std::string out = out_path("round");
    const ConvertReport report = make(f.write("round-hf"), out, GetParam(), GetParam());
    const auto m = eng_load(out);
    EXPECT_TRUE(model_verify(*m).empty());
    EXPECT_EQ(m->type_name, ttype_name(GetParam()));
    EXPECT_EQ(m->name, "round-hf");
    EXPECT_EQ(m->path, out);
    EXPECT_EQ(m->file_bytes, fs::file_size(out));
    EXPECT_EQ(report.file_bytes, m->file_bytes);
    EXPECT_EQ(m->shape.layers, 2u);
    EXPECT_EQ(m->shape.dim, 24u);
    EXPECT_EQ(m->shape.heads, 2u);
    EXPECT_EQ(m->shape.kv_heads, 1u);
    EXPECT_EQ(m->shape.head_dim, 6u);
    EXPECT_EQ(m->shape.ffn, 20u);
    EXPECT_EQ(m->shape.vocab, 19u);
    EXPECT_EQ(m->shape.ctx, 16u);
    const uint64_t dim = 24, matrices = 2 * dim * (12 + 6 + 6 + 12 + 3 * 20);
    EXPECT_EQ(m->shape.params, 19 * 24 * (tied ? 1 : 2) + 5 * 24 + matrices);
    EXPECT_EQ(report.params, m->shape.params);
    EXPECT_EQ(m->shape.norm_eps, 1e-5f);
    EXPECT_EQ(m->shape.attn_scale, static_cast<float>(1 / std::sqrt(6.0)));
    EXPECT_EQ(m->shape.rope_factor, 1.0f);
    ASSERT_EQ(m->shape.rope_freqs.size(), 3u);
    for (size_t i = 0; i < 3; i++) EXPECT_EQ(m->shape.rope_freqs[i], det_pow(10000, -2.0 * static_cast<double>(i) / 6));
    EXPECT_EQ(m->meta.get<std::string>(key::source_file), "round-hf");

    expect_tensor(*m->embed, source_values(f, "model.embed_tokens.weight"), GetParam());
    EXPECT_EQ(m->head == m->embed, tied);
    if (!tied) expect_tensor(*m->head, source_values(f, "lm_head.weight"), GetParam());
    ASSERT_EQ(m->layers.size(), 2u);
    uint64_t bytes = 0;
    for (const Tensor& t : m->tensors) bytes += t.bytes;
    EXPECT_EQ(m->weight_bytes, bytes);
    for (size_t l = 0; l < 2; l++) {
      const std::string p = "model.layers." + std::to_string(l) + ".";
      const LayerTensors& t = m->layers[l];
      expect_tensor(*t.q, source_values(f, p + "self_attn.q_proj.weight"), GetParam());
      expect_tensor(*t.k, source_values(f, p + "self_attn.k_proj.weight"), GetParam());
      expect_tensor(*t.v, source_values(f, p + "self_attn.v_proj.weight"), GetParam());
      expect_tensor(*t.o, source_values(f, p + "self_attn.o_proj.weight"), GetParam());
      expect_tensor(*t.gate, source_values(f, p + "mlp.gate_proj.weight"), GetParam());
      expect_tensor(*t.up, source_values(f, p + "mlp.up_proj.weight"), GetParam());
      expect_tensor(*t.down, source_values(f, p + "mlp.down_proj.weight"), GetParam());
      for (const auto& [norm, name] :
           {std::pair(t.attn_norm, "input_layernorm.weight"), std::pair(t.ffn_norm, "post_attention_layernorm.weight")}) {
        const auto w = source_values(f, p + name);
        ASSERT_EQ(norm->type, TType::vec);
        EXPECT_EQ(std::vector<float>(norm->vec(), norm->vec() + 24), w);
      }
      // what one par_for runs together lies together
      EXPECT_EQ(t.q + 1, t.k);
      EXPECT_EQ(t.k + 1, t.v);
      EXPECT_EQ(t.gate + 1, t.up);
    }
    for (const Tensor& t : m->tensors) EXPECT_EQ(t.offset % 64, 0u) << t.name;
  }
}

TEST_P(RoundTrip, TwoConversionsAreTheSameFile) {
  const fs::path dir = test::tiny_model().write("twice-hf");
  make(dir, out_path("twice-a"), GetParam(), GetParam());
  make(dir, out_path("twice-b"), GetParam(), GetParam());
  EXPECT_EQ(bytes_of(out_path("twice-a")), bytes_of(out_path("twice-b")));
}

TEST(Convert, ShardsEqualOneFile) {
  const HfFolder f = test::tiny_model("BF16", false);
  const std::string one = out_path("one"), three = out_path("three");
  const fs::path dir = f.write("same-name");
  make(dir, one, TType::q4, TType::q8);
  f.write("same-name", 3);
  ASSERT_TRUE(fs::exists(dir / "model-2.safetensors"));
  ASSERT_FALSE(fs::exists(dir / "model.safetensors"));
  make(dir, three, TType::q4, TType::q8);
  EXPECT_EQ(bytes_of(one), bytes_of(three));
}

TEST(Convert, SourceTypesAgree) {
  std::string first;
  for (const std::string d : {"F32", "F16", "BF16"}) {
    const std::string out = out_path("source-" + d);
    make(test::tiny_model(d).write("source"), out, TType::q8, TType::q8);
    // all the same but the checksum of the source, which is of its bytes
    const auto m = eng_load(out);
    std::string data = bytes_of(out).substr(m->tensors.front().offset);
    if (first.empty()) first = data;
    EXPECT_EQ(first, data) << d;
  }
}

TEST(Convert, HeadHasATypeOfItsOwn) {
  make(test::tiny_model("F32", false).write("head-hf"), out_path("head"), TType::q4, TType::q8);
  auto m = eng_load(out_path("head"));
  EXPECT_EQ(m->head->type, TType::q8);
  EXPECT_EQ(m->embed->type, TType::q4);
  EXPECT_EQ(m->layers[0].q->type, TType::q4);
  EXPECT_EQ(m->type_name, "q4 (head q8)");
  // tied: the embedding is the head
  make(test::tiny_model("F32", true).write("head-hf"), out_path("head"), TType::q8, TType::f32);
  m = eng_load(out_path("head"));
  EXPECT_EQ(m->embed->type, TType::f32);
  EXPECT_EQ(m->type_name, "q8 (head f32)");
}

TEST(Convert, NotFiniteIsNamed) {
  for (const float bad : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
    for (const TType type : {TType::f32, TType::q8, TType::q4}) {
      HfFolder f = test::tiny_model();
      std::memcpy(f.at("model.layers.1.mlp.up_proj.weight").bytes.data() + 4 * size_t{24 * 3 + 5}, &bad, 4);
      const std::string out = out_path("nan");
      const std::string m = message_of([&] { make(f.write("nan-hf"), out, type, type); });
      EXPECT_TRUE(says(m, "weight 77 of tensor model.layers.1.mlp.up_proj.weight (row 3, column 5) is not a finite number"));
      EXPECT_FALSE(fs::exists(out));
    }
  }
  HfFolder f = test::tiny_model("F16");
  f.at("model.norm.weight").bytes.replace(4, 2, "\x00\x7c", 2);
  EXPECT_TRUE(says(message_of([&] { make(f.write("nan-hf"), out_path("nan"), TType::q8, TType::q8); }),
                   "weight 2 of tensor model.norm.weight"));
}

TEST(Convert, KeptInInt8) {
  HfFolder f = test::tiny_model();
  auto& t = f.at("model.layers.0.self_attn.k_proj.weight");
  const float huge = 1e6f;
  std::memcpy(t.bytes.data() + 4 * size_t{24 * 2 + 7}, &huge, 4);
  std::vector<float> small(size_t{24} * 12);
  for (size_t i = 0; i < small.size(); i++) small[i] = 1e-6f * static_cast<float>(i % 7);
  f.at("model.layers.1.self_attn.q_proj.weight").bytes = test::dtype_bytes("F32", small);
  const ConvertReport r = make(f.write("kept-hf"), out_path("kept"), TType::q4, TType::q4);
  const auto m = eng_load(out_path("kept"));
  EXPECT_EQ(m->layers[0].k->type, TType::q8);
  EXPECT_EQ(m->layers[1].q->type, TType::q8);
  EXPECT_EQ(m->layers[0].q->type, TType::q4);
  EXPECT_EQ(m->layers[0].v->type, TType::q4);
  EXPECT_EQ(m->type_name, "q4, some q8");
  ASSERT_EQ(r.notes.size(), 2u);
  EXPECT_TRUE(
      says(r.notes[0],
           "layers.0.k is kept in int8: row 2, columns 0 to 23 have weights up to 1e+06, too large for an int4 scale in f16"));
  EXPECT_TRUE(says(r.notes[1], "layers.1.q is kept in int8: row 0, columns 0 to 23 have weights up to 6e-06, too small"));
  for (const ConvertKind& k : r.kinds) {
    if (k.kind == "q") { EXPECT_EQ(k.types, "q4, q8"); }
    if (k.kind == "k") { EXPECT_EQ(k.types, "q8, q4"); }
  }
}

TEST(Convert, VanishingRowsAreReported) {
  HfFolder f = test::tiny_model();
  std::vector<float> w = test::plain_values(size_t{24} * 12, 3);
  for (size_t i = 0; i < 24; i++) w[24 + i] = 1e-38f;
  f.at("model.layers.0.self_attn.q_proj.weight").bytes = test::dtype_bytes("F32", w);
  const ConvertReport r = make(f.write("vanish-hf"), out_path("vanish"), TType::q8, TType::q8);
  ASSERT_EQ(r.notes.size(), 1u);
  EXPECT_TRUE(says(r.notes[0], "layers.0.q: 1 rows have only weights below 1.5e-36 and became zero"));
}

TEST(Convert, ReportCountsWhatIsThere) {
  const ConvertReport r = make(test::tiny_model().write("report-hf"), out_path("report"), TType::q8, TType::q8);
  std::vector<std::string> kinds;
  for (const ConvertKind& k : r.kinds) {
    kinds.push_back(k.kind);
    if (k.kind == "norms") {
      EXPECT_EQ(k.bytes, 5u * 96);
      EXPECT_EQ(k.weights.relative(), 0);
      EXPECT_EQ(k.types, "f32");
    } else {
      EXPECT_GT(k.weights.relative(), 0.0005) << k.kind;
      EXPECT_LT(k.weights.relative(), 0.01) << k.kind;
      EXPECT_GT(k.product.relative(), 0.001) << k.kind;
      EXPECT_LT(k.product.relative(), 0.05) << k.kind;
    }
    if (k.kind == "gate") { EXPECT_EQ(k.bytes, 2u * (2 * 512 + 128)); }
  }
  EXPECT_EQ(kinds, (std::vector<std::string>{"embed", "norms", "q", "k", "v", "o", "gate", "up", "down"}));
}

TEST(Convert, ProgressCountsToTheEndAndMayStop) {
  const fs::path dir = test::tiny_model().write("progress-hf");
  uint64_t last = 0, total = 0;
  ConvertOptions o;
  o.progress = [&](uint64_t done, uint64_t all) {
    EXPECT_GT(done, last);
    last = done;
    total = all;
  };
  convert(hf_open(dir.string()), out_path("progress"), o);
  EXPECT_EQ(last, total);
  struct Stop {};
  o.progress = [&](uint64_t done, uint64_t all) {
    if (done > all * 3 / 4) throw Stop{};
  };
  const fs::path folder = test::tmp_dir() / "stopped";
  fs::create_directory(folder);
  EXPECT_THROW(convert(hf_open(dir.string()), (folder / "x.mnm").string(), o), Stop);
  EXPECT_TRUE(fs::is_empty(folder));
}

TEST(Convert, RealModels) {
  for (const TType type : {TType::f32, TType::q8, TType::q4}) {
    make(test::pocket_dir(), out_path("pocket"), type, type);
    const auto m = eng_load(out_path("pocket"));
    EXPECT_EQ(m->shape.params, 4951296u);
    EXPECT_EQ(m->name, "pocket");
    EXPECT_TRUE(model_verify(*m).empty());
  }
  NYB_NEED_DATA();
  make(test::data_dir() / "stories260K" / "hf", out_path("stories"), TType::q8, TType::q8);
  EXPECT_EQ(eng_load(out_path("stories"))->layers.at(4).down->cols, 172u);
}

}  // namespace
}  // namespace nyb
