// shapes_test.cpp - what is told of a shape is what a file of that shape has.
#include "model/shapes.h"
#include <gtest/gtest.h>
#include <filesystem>
#include "engine/engine.h"
#include "engine/kv_cache.h"
#include "model/random_model.h"
#include "support/data.h"

namespace nyb::test {
namespace {

constexpr NamedShape tiny{"tiny", "llama", 3, 96, 6, 2, 16, 172, 301, 64, true, 10000};

constexpr NamedShape blocks{"blocks", "llama", 2, 256, 4, 2, 64, 512, 301, 64, false, 10000};  // for types of 256 columns

NamedShape untied() {
  NamedShape s = tiny;
  s.tied = false;
  return s;
}

std::unique_ptr<Model> made(const NamedShape& s, TType type, TType head) {
  const std::string path = (tmp_dir() / "random.mnm").string();
  random_model(path, s, type, head);
  return eng_load(path);
}

NamedShape of_family(std::string_view family) {
  NamedShape s = tiny;
  s.family = family;
  return s;
}

void expect_cost(const NamedShape& s, TType type, TType head) {
  const std::unique_ptr<Model> m = made(s, type, head);
  const ModelCost told = model_cost(s.shape(), s.tied, type, head), is = model_cost(m->tensors, s.tied);
  EXPECT_EQ(told.weights, m->weight_bytes);
  EXPECT_EQ(told.read_per_token, bytes_per_token(*m));
  EXPECT_EQ(is.weights, told.weights);
  EXPECT_EQ(is.read_per_token, told.read_per_token);
  EXPECT_EQ(is.macs_per_token, told.macs_per_token);
  EXPECT_EQ(is.read_of, told.read_of);
  uint64_t of_all = 0;
  for (const auto& [t, bytes] : told.read_of) of_all += bytes;
  EXPECT_EQ(of_all, told.read_per_token);
  EXPECT_EQ(s.shape().params, m->shape.params);
}

TEST(Shapes, CostIsThatOfAFile) {
  for (const NamedShape& s : {tiny, untied(), of_family("qwen2"), of_family("qwen3"), of_family("smollm3")})
    for (const TType type : {TType::f32, TType::q8, TType::q4, TType::q80})
      for (const TType head : {TType::q8, type}) expect_cost(s, type, head);
  expect_cost(blocks, TType::q4k, TType::q6k);
}

// By hand: per layer q 96x96, k and v 32x96, o 96x96, gate and up 172x96, down 96x172; the output 301x96.
TEST(Shapes, MultiplyAddsAreCounted) {
  EXPECT_EQ(model_cost(tiny.shape(), true, TType::q8, TType::q8).macs_per_token,
            3u * (2 * 96 * 96 + 2 * 32 * 96 + 3 * 172 * 96) + 301 * 96);
}

TEST(Shapes, AreThoseOfTheModels) {
  // parameters as the models' makers tell them, in millions
  struct Known {
    const char* name;
    double millions;
  };
  for (const Known& k : {Known{"qwen2.5-0.5b", 494},
                         {"qwen2.5-1.5b", 1544},
                         {"qwen2.5-7b", 7616},
                         {"llama3.2-1b", 1236},
                         {"llama3.1-8b", 8030},
                         {"tinyllama-1.1b", 1100},
                         {"smollm2-135m", 134.5},
                         {"mistral-7b", 7248},
                         {"qwen3-8b", 8191},
                         {"qwen3-0.6b", 596},
                         {"smollm2-1.7b", 1711},
                         {"smollm3-3b", 3075},
                         {"llama3.2-3b", 3213}}) {
    const NamedShape* s = shape_find(k.name);
    ASSERT_NE(s, nullptr) << k.name;
    EXPECT_NEAR(static_cast<double>(s->shape().params) * 1e-6, k.millions, 0.002 * k.millions) << k.name;
  }
  EXPECT_EQ(kv_bytes_per_position(shape_find("qwen2.5-1.5b")->shape(), KvType::f16), 28672u);
  EXPECT_EQ(shape_find("qwen2.5"), nullptr);
  for (const NamedShape& s : named_shapes()) {
    EXPECT_NE(shape_names().find(s.name), std::string::npos);
    EXPECT_EQ(s.heads % s.kv_heads, 0u) << s.name;
  }
}

// By hand: of three layers one sees 21 positions, one 270, one all; two KV heads of 16 dimensions.
TEST(Shapes, AWindowBoundsWhatATokenReads) {
  ModelShape s = tiny.shape();
  s.windows = {0, 21, 270};
  constexpr uint64_t position = 2 * 2 * 16 * 2;  // keys and values of a layer in f16
  EXPECT_EQ(kv_read_bytes(s, KvType::f16, 0), 3 * position);
  EXPECT_EQ(kv_read_bytes(s, KvType::f16, 20), 3 * 21 * position);
  EXPECT_EQ(kv_read_bytes(s, KvType::f16, 21), (22 + 21 + 22) * position);
  EXPECT_EQ(kv_read_bytes(s, KvType::f16, 299), (300 + 21 + 270) * position);
  s.windows.clear();
  EXPECT_EQ(kv_read_bytes(s, KvType::f16, 299), 300 * kv_bytes_per_position(s, KvType::f16));
}

TEST(Shapes, AnEngineTakesWhatIsToldBefore) {
  const std::unique_ptr<Model> m = made(tiny, TType::q8, TType::q8);
  for (const uint32_t ctx : {1u, 17u, 64u})
    for (const unsigned threads : {1u, 3u}) {
      Pool pool(threads);
      EngOptions o;
      o.ctx = ctx;
      o.chunk = 5;
      const Engine e(*m, kern_table(Path::ref), pool, o);
      EXPECT_EQ(eng_work_bytes(tiny.shape(), o, threads), e.work_bytes());
      EXPECT_EQ((ctx + 15) / 16 * 16 * kv_bytes_per_position(tiny.shape(), KvType::f32), e.kv_bytes());
    }
}

TEST(Shapes, ARandomModelGivesFiniteLogits) {
  for (const TType type : kMatrixTypes) {
    const std::unique_ptr<Model> m = made(block_cols(type) == 1 ? tiny : blocks, type, type);
    EXPECT_TRUE(model_verify(*m).empty());
    Pool pool(1);
    EngOptions o;
    o.kv = KvType::f16;
    Engine e(*m, kern_table(Path::ref), pool, o);
    std::vector<int32_t> ids;
    for (int32_t i = 0; i < 64; ++i) ids.push_back(i * 4);
    std::vector<float> logits(m->shape.vocab);
    eng_step(e, ids, 0, logits);
    float most = 0;
    for (const float l : logits) most = std::max(most, std::abs(l));
    EXPECT_GT(most, 0.1f) << ttype_name(type);
    EXPECT_LT(most, 100.0f) << ttype_name(type);
  }
}

}  // namespace
}  // namespace nyb::test
