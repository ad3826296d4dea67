// not_finite_test.cpp - what an engine says of values that are too large, and how far it has come by then.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "small_engine.h"

namespace nyb::test {
namespace {

// What two threads read next: one the beginning of the first matrix, the other a panel of the second. Pieces are of two panels, and
// the first thread's are the lesser half.
struct Next {
  const char *first, *second;
  size_t panel;
};

// Where in a model a value first is too large, what is said of it, and what is read next by then.
struct Overflow {
  const char* name;
  void (*spoil)(Weights&);
  const char *layer, *stage;
  std::vector<Next> next;
};

void scale(std::vector<float>& v, float by) {
  for (float& x : v) x *= by;
}

const Overflow kOverflows[] = {
    {"embedding", [](Weights& w) { scale(w.at.at("embed"), 1e30f); }, "layer 0", "the sum of squares of the attention norm", {}},
    {"attn_norm",
     [](Weights& w) { scale(w.layer(1, "attn_norm"), 2.5e38f); },
     "layer 1",
     "a value of the attention norm",
     {{"layers.1.q", "layers.1.k", 1}}},
    {"q",
     [](Weights& w) { scale(w.layer(1, "q"), 1e20f), scale(w.layer(1, "k"), 1e20f); },
     "layer 1",
     "an attention score",
     {{"layers.1.o", "layers.1.o", 2}}},
    {"v",
     [](Weights& w) { scale(w.layer(2, "v"), 1.8e38f); },
     "layer 2",
     "a value of attention's output",
     {{"layers.2.o", "layers.2.o", 2}}},
    {"o",
     [](Weights& w) { scale(w.layer(1, "o"), 1e30f); },
     "layer 1",
     "the sum of squares of the feed-forward norm",
     {{"layers.1.gate", "layers.1.gate", 2}, {"layers.1.up", "layers.1.up", 2}}},
    {"ffn_norm",
     [](Weights& w) { scale(w.layer(0, "ffn_norm"), 2.5e38f); },
     "layer 0",
     "a value of the feed-forward norm",
     {{"layers.0.gate", "layers.0.gate", 2}, {"layers.0.up", "layers.0.up", 2}}},
    {"up",
     [](Weights& w) { scale(w.layer(2, "up"), 1.8e38f), scale(w.layer(2, "gate"), 100); },
     "layer 2",
     "a value of the feed-forward activations",
     {{"layers.2.down", "layers.2.down", 2}}},
    {"down",
     [](Weights& w) { scale(w.layer(0, "down"), 1e30f); },
     "layer 1",
     "the sum of squares of the attention norm",
     {{"layers.1.q", "layers.1.k", 1}}},
    {"last down",
     [](Weights& w) { scale(w.layer(2, "down"), 1e30f); },
     "after the last layer",
     "the sum of squares of the last norm",
     {{"head", "head", 2}}},
    {"out_norm",
     [](Weights& w) { scale(w.at.at("out_norm"), 2.5e38f); },
     "after the last layer",
     "a value of the last norm",
     {{"head", "head", 2}}},
    {"head",
     [](Weights& w) { scale(w.at.at("head"), 1.8e38f); },
     "after the last layer",
     "a logit",
     {{"layers.0.q", "layers.0.k", 1}}},
};

TEST(Engine, NamesLayerAndStageOfWhatIsNotFinite) {
  const std::vector<int32_t> ids = count_up(12);
  for (const TType type : {TType::f32, TType::q8})
    for (const Overflow& o : kOverflows) {
      Weights w = random_weights(small_shape(), false, 12);
      o.spoil(w);
      const auto m = make_model(w, all(type));
      for (const Path path : {Path::ref, runnable_paths().back()})
        for (const uint32_t chunk : {1u, 32u}) {
          SCOPED_TRACE(testing::Message() << o.name << ", " << ttype_name(type) << ", " << path_name(path) << ", chunks of "
                                          << chunk);
          EngOptions opt;
          opt.chunk = chunk;
          Engine e(*m, kern_table(path), pool(), opt);
          std::vector<float> logits(ids.size() * 61);
          expect_words(error_of([&] { eng_step(e, ids, 0, logits); }), {o.layer, o.stage, "not finite", "position "});
          EXPECT_EQ(e.filled(), 0u);
        }
    }
}

TEST(Engine, TellsThePoolWhatIsReadNext) {
  for (const Overflow& o : kOverflows) {
    SCOPED_TRACE(o.name);
    Weights w = random_weights(small_shape(), false, 12);
    o.spoil(w);
    const auto m = make_model(w, all(TType::q8));
    Pool two(2, 2);
    Engine e(*m, best(), two);
    std::vector<float> logits(61);
    EXPECT_THROW(eng_step(e, count_up(1), 0, logits), Error);
    const auto panel = [&](const char* name, size_t p) -> const void* {
      const auto t = std::find_if(m->tensors.begin(), m->tensors.end(), [&](const Tensor& x) { return x.name == name; });
      return t == m->tensors.end() ? nullptr : t->data + p * panel_bytes(t->type, t->cols);
    };
    std::array<const void*, 2> first{}, second{};
    for (size_t i = 0; i < o.next.size(); i++) {
      first[i] = panel(o.next[i].first, 0);
      second[i] = panel(o.next[i].second, o.next[i].panel);
    }
    EXPECT_EQ(two.told(0), first);
    EXPECT_EQ(two.told(1), second);
  }
}

TEST(Engine, NamesTheLayerOfAHeadThatIsTooLarge) {
  ModelShape shape = small_shape();
  shape.qkv_bias = shape.qk_norm = true;
  for (const char* bias : {"q_bias", "k_bias"}) {
    Weights w = random_weights(shape, false, 12);
    w.layer(1, bias).back() = 1e30f;
    const auto m = make_model(w, all(TType::q8));
    Engine e(*m, best(), pool());
    expect_words(error_of([&] { eng_step(e, count_up(3), 0, {}); }),
                 {"layer 1", "the sum of squares of a query's or key's head is not finite", "position 0"});
  }
}

TEST(Engine, NamesThePositionAndGoesOnFromBeforeIt) {
  Weights w = random_weights(small_shape(), false, 13);
  for (size_t i = 0; i < 48; i++) w.at.at("embed")[size_t{13} * 48 + i] = 1e25f;  // token 13 cannot be run
  const auto m = make_model(w, all(TType::f32));
  std::vector<int32_t> ids(15, 3);
  for (size_t i = 0; i < ids.size(); i++) ids[i] = static_cast<int32_t>(i % 11);
  Engine e(*m, best(), pool()), fresh(*m, best(), pool());
  const std::vector<float> want = every_logit(fresh, ids);
  (void)every_logit(e, ids);
  std::vector<int32_t> bad = ids;
  bad[9] = bad[12] = 13;
  expect_words(error_of([&] { eng_step(e, std::span(bad).subspan(6), 6, {}); }), {"layer 0", "position 9"});
  EXPECT_EQ(e.filled(), 6u);
  EXPECT_TRUE(same(every_logit(e, std::span(ids).subspan(6), 6), std::span(want).subspan(size_t{6} * 61)));
}

// Token 13 alone has something in the first column, and so do the keys' or values' matrices: what attention makes of it is not
// finite at its first place, in the second of the tiles that the chunk is cut into. Heads of 32 are quantized tile by tile, others
// after all.
TEST(Engine, NamesThePositionWhereAttentionIsNotFinite) {
  struct Case {
    const char* name;
    KvType kv;
    const char* stage;
  } const cases[] = {{"q", KvType::f32, "an attention score is not finite"},
                     {"q", KvType::q8, "an attention score is not finite"},
                     {"v", KvType::f32, "a value of attention's output is not finite"}};
  std::vector<int32_t> ids(15, 3);
  ids[9] = ids[12] = 13;
  for (const uint32_t head_dim : {12u, 32u}) {
    ModelShape shape = small_shape();
    shape.head_dim = head_dim;
    for (const Case& c : cases) {
      Weights w = random_weights(shape, false, 15);
      for (size_t token = 0; token < 61; token++) w.at.at("embed")[token * 48] = token == 13 ? 9.0f : 0.0f;
      std::vector<float>& matrix = w.layer(0, c.name);
      for (size_t row = 0; row < matrix.size(); row += 48) matrix[row] = 3e38f;
      const auto m = make_model(w, all(TType::f32));
      EngOptions opt;
      opt.chunk = 32;
      opt.kv = c.kv;
      Engine e(*m, best(), pool(), opt);
      SCOPED_TRACE(testing::Message() << c.name << ", " << kv_name(c.kv) << " cache, heads of " << head_dim);
      eng_step(e, std::span(ids).first(3), 0, {});
      expect_words(error_of([&] { eng_step(e, std::span(ids).subspan(3), 3, {}); }), {"layer 0", c.stage, "(position 9)"});
      EXPECT_EQ(e.filled(), 3u);
    }
  }
}

TEST(Engine, NamesTheLayerWhoseKeysOrValuesDoNotFitF16) {
  for (const char* name : {"k", "v"}) {
    Weights w = random_weights(small_shape(), true, 14);
    scale(w.layer(1, name), 1e6f);
    const auto m = make_model(w, all(TType::q8));
    const std::vector<int32_t> ids = count_up(10);
    EngOptions opt;
    Engine wide(*m, best(), pool(), opt);
    EXPECT_NO_THROW((void)every_logit(wide, ids)) << name;
    opt.kv = KvType::f16;
    Engine narrow(*m, best(), pool(), opt);
    expect_words(error_of([&] { (void)every_logit(narrow, ids); }), {"layer 1", "does not fit f16", "position ", "--kv f32"});
    EXPECT_EQ(narrow.filled(), 0u);
  }
}

// Of an infinity an int8 cache would keep scale and zeros that look like any others.
TEST(Engine, NamesTheLayerWhoseKeysValuesOrQueriesAreNotFiniteInQ8) {
  const std::tuple<const char*, const char*> rows[] = {
      {"k", "a key or value is not finite"}, {"v", "a key or value is not finite"}, {"q", "an attention score is not finite"}};
  const std::vector<int32_t> ids = count_up(12);
  for (const auto& [name, stage] : rows) {
    Weights w = random_weights(small_shape(), false, 12);
    // one row of the matrix, and so one value of one head
    for (size_t i = 0; i < 48; i++) w.layer(1, name)[i] = i % 2 == 0 ? 3e38f : -3e38f;
    const auto m = make_model(w, all(TType::f32));
    for (const Path path : {Path::ref, runnable_paths().back()})
      for (const uint32_t chunk : {1u, 32u}) {
        SCOPED_TRACE(testing::Message() << name << ", " << path_name(path) << ", chunks of " << chunk);
        EngOptions opt;
        opt.chunk = chunk;
        opt.kv = KvType::q8;
        Engine e(*m, kern_table(path), pool(), opt);
        std::vector<float> logits(ids.size() * 61);
        expect_words(error_of([&] { eng_step(e, ids, 0, logits); }), {"layer 1", stage, "position "});
        EXPECT_EQ(e.filled(), 0u);
      }
  }
}

}  // namespace
}  // namespace nyb::test
