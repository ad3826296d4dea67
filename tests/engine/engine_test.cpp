// engine_test.cpp - what an engine accepts, refuses and leaves behind.
#include "engine/engine.h"

#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>
#include <thread>

#include "engine/buffer.h"
#include "engine/rope_table.h"
#include "kern/mxcsr.h"
#include "small_engine.h"

namespace nyb::test {
namespace {

TEST(Engine, SaysWhatItHas) {
  const ModelShape& s = small_model().shape;
  for (const KvType kv : kKvTypes) {
    EngOptions opt;
    opt.kv = kv;
    const Engine e(small_model(), best(), pool(), opt);
    EXPECT_EQ(e.ctx(), s.ctx);
    EXPECT_EQ(e.kv(), kv);
    EXPECT_EQ(e.filled(), 0u);
    EXPECT_EQ(&e.model(), &small_model());
    EXPECT_EQ(e.kern().path, best().path);
    // keys and values, positions in whole blocks of 16
    EXPECT_EQ(e.kv_bytes(), 48 * kv_bytes_per_position(s, kv));
    EXPECT_GT(e.work_bytes(), 32u * (48 + 80) * 4);
  }
  EngOptions opt;
  opt.ctx = 17;
  EXPECT_EQ(Engine(small_model(), best(), pool(), opt).kv_bytes(), 32 * kv_bytes_per_position(s, KvType::f32));
  opt.ctx = 41;
  expect_words(error_of([&] { Engine(small_model(), best(), pool(), opt); }), {"41", "40", "--ctx"});
}

TEST(Engine, KnowsItsCacheTypes) {
  for (const KvType kv : kKvTypes) EXPECT_EQ(kv_parse(kv_name(kv)), kv);
  for (const char* bad : {"", "f64", "F32", "f32 "}) expect_words(error_of([&] { kv_parse(bad); }), {"f32", "f16", "q8"});
}

TEST(Engine, TakesAnyChunk) {
  const std::vector<int32_t> ids = count_up(20);
  Engine plain(small_model(), best(), pool());
  const std::vector<float> want = every_logit(plain, ids);
  for (const uint32_t chunk : {0u, 1u, 5u, 40u, UINT32_MAX}) {
    EngOptions opt;
    opt.chunk = chunk;
    Engine e(small_model(), best(), pool(), opt);
    EXPECT_TRUE(same(every_logit(e, ids), want)) << chunk;
  }
}

TEST(Engine, GivesTheLogitsThereIsRoomFor) {
  const std::vector<int32_t> ids = count_up(9);
  const size_t vocab = small_model().shape.vocab;
  Engine e(small_model(), best(), pool());
  const std::vector<float> every = every_logit(e, ids);
  // guarded on both sides: the vocabulary is not a multiple of a panel
  std::vector<float> room(vocab + 64, -77.0f);
  eng_step(e, ids, 0, std::span(room).subspan(32, vocab));
  EXPECT_TRUE(same(std::span(room).subspan(32, vocab), std::span(every).last(vocab)));
  for (size_t i = 0; i < 32; i++) {
    EXPECT_EQ(room[i], -77.0f);
    EXPECT_EQ(room[32 + vocab + i], -77.0f);
  }
  eng_step(e, std::span(ids).first(8), 0, {});  // none, then one more token
  EXPECT_EQ(e.filled(), 8u);
  std::vector<float> last(vocab);
  eng_step(e, std::span(ids).last(1), 8, last);
  EXPECT_TRUE(same(last, std::span(every).last(vocab)));
  for (const size_t bad : {size_t{1}, vocab - 1, vocab + 1, 8 * vocab, 10 * vocab}) {
    std::vector<float> l(bad);
    EXPECT_THROW(eng_step(e, ids, 0, l), Error) << bad;
  }
}

TEST(Engine, RefusesIdsOutsideTheVocabulary) {
  Engine e(small_model(), best(), pool());
  for (const int32_t bad : {-1, 61, INT32_MIN, INT32_MAX}) {
    eng_step(e, count_up(6), 0, {});
    const std::vector<int32_t> ids{1, 2, bad};
    expect_words(error_of([&] { eng_step(e, ids, 4, {}); }), {std::to_string(bad).c_str(), "position 6", "61"});
    EXPECT_EQ(e.filled(), 4u);
  }
}

TEST(Engine, RefusesMoreThanTheContext) {
  EngOptions opt;
  opt.ctx = 18;
  Engine e(small_model(), best(), pool(), opt);
  eng_step(e, count_up(18), 0, {});
  EXPECT_EQ(e.filled(), 18u);
  expect_words(error_of([&] { eng_step(e, count_up(5), 14, {}); }), {"19", "18", "--ctx"});
  EXPECT_EQ(e.filled(), 14u);
  eng_step(e, count_up(4), 14, {});
  expect_words(error_of([&] { eng_step(e, count_up(1), 18, {}); }), {"19", "18"});
  EXPECT_EQ(e.filled(), 18u);
  expect_words(error_of([&] { eng_step(e, count_up(1), 19, {}); }), {"19", "18"});  // a gap
  EXPECT_EQ(e.filled(), 18u);
}

TEST(Engine, CutsBackWithoutIds) {
  Engine e(small_model(), best(), pool());
  const std::vector<int32_t> ids = count_up(12);
  const std::vector<float> want = every_logit(e, ids);
  eng_step(e, {}, 5, {});
  EXPECT_EQ(e.filled(), 5u);
  EXPECT_THROW(eng_step(e, std::span(ids).last(1), 11, {}), Error);
  EXPECT_TRUE(same(every_logit(e, std::span(ids).last(7), 5), std::span(want).subspan(size_t{5} * 61)));
}

TEST(Engine, AnF16CacheIsCloseButItsOwn) {
  const std::vector<int32_t> ids = count_up(40);
  EngOptions opt;
  Engine wide(small_model(), best(), pool(), opt);
  opt.kv = KvType::f16;
  Engine narrow(small_model(), best(), pool(), opt);
  const std::vector<float> a = every_logit(wide, ids), b = every_logit(narrow, ids);
  EXPECT_FALSE(same(a, b));
  double diff = 0, size = 0;
  for (size_t i = 0; i < a.size(); i++) {
    diff += std::pow(a[i] - b[i], 2);
    size += std::pow(a[i], 2);
  }
  // f16 keeps 11 bits: 5e-4 of each key and value; int8 activations pass a changed rounding on (1/127 of a few of them)
  EXPECT_LT(std::sqrt(diff / size), 0.02);
}

TEST(Engine, StopsWhenCancelled) {
  std::atomic<bool> cancel{false};
  EngOptions opt;
  opt.cancel = &cancel;
  opt.chunk = 4;
  Engine e(small_model(), best(), pool(), opt);
  const std::vector<int32_t> ids = count_up(40);
  const std::vector<float> want = every_logit(e, ids);
  cancel = true;
  EXPECT_THROW(eng_step(e, std::span(ids).subspan(10), 10, {}), Cancelled);
  EXPECT_EQ(e.filled(), 10u);
  cancel = false;
  EXPECT_TRUE(same(every_logit(e, std::span(ids).subspan(10), 10), std::span(want).subspan(size_t{10} * 61)));
  // from another thread, at whatever moment
  for (int i = 0; i < 20; i++) {
    std::thread other([&, i] {
      std::this_thread::sleep_for(std::chrono::microseconds(20 * i));
      cancel = true;
    });
    uint32_t filled = 40;
    try {
      eng_step(e, ids, 0, {});
    } catch (const Cancelled&) { filled = 0; }
    other.join();
    cancel = false;
    EXPECT_EQ(e.filled(), filled);
  }
}

TEST(Engine, HasItsOwnFloatEnvironment) {
  const std::vector<int32_t> ids = count_up(10);
  Engine e(small_model(), best(), pool());
  const std::vector<float> want = every_logit(e, ids);
  const unsigned before = _mm_getcsr();
  constexpr unsigned odd = 0x1F80 | 0x8040 | 0x6000;
  _mm_setcsr(odd);
  const std::vector<float> is = every_logit(e, ids);
  const unsigned after = _mm_getcsr();
  std::string error;
  try {
    eng_step(e, count_up(1), 30, {});
  } catch (const Error& x) { error = x.what(); }
  const unsigned thrown = _mm_getcsr();
  _mm_setcsr(before);
  EXPECT_EQ(after, odd);
  EXPECT_EQ(thrown, odd);
  EXPECT_FALSE(error.empty());
  EXPECT_TRUE(same(is, want));
}

TEST(Engine, SharesAPoolWithOthers) {
  const std::vector<int32_t> ids = count_up(15);
  Engine a(small_model(), best(), pool()), b(small_model(), best(), pool());
  const std::vector<float> want = every_logit(a, ids);
  std::vector<float> one(61);
  for (size_t i = 0; i < ids.size(); i++) {
    eng_step(a, std::span(ids).subspan(i, 1), static_cast<uint32_t>(i), {});
    eng_step(b, std::span(ids).subspan(i, 1), static_cast<uint32_t>(i), one);
    EXPECT_TRUE(same(one, std::span(want).subspan(i * 61, 61)));
  }
}

TEST(RopeTable, HoldsTheRoundedSinesAndCosines) {
  ModelShape s = small_shape();
  s.rope_freqs = {1, 0.316227766016838, 0.1, 1e-3, 0};
  s.rope_factor = 1.1f;
  constexpr size_t kPositions = 20000;
  RopeTable t(s, kPositions);
  t.extend(100);
  t.extend(50);  // nothing to do
  t.extend(kPositions);
  EXPECT_EQ(t.half(), 5u);
  for (size_t p = 0; p < kPositions; p += p < 200 ? 1 : 97)
    for (size_t i = 0; i < 5; i++) {
      // a last bit of the double may tip the rounding to f32; nothing more
      const long double angle = static_cast<long double>(static_cast<double>(p) * s.rope_freqs[i]);
      const float c = static_cast<float>(std::cos(angle)), sn = static_cast<float>(std::sin(angle));
      EXPECT_NEAR(t.cos(p)[i], c * 1.1f, 1.3e-7) << p << " " << i;
      EXPECT_NEAR(t.sin(p)[i], sn * 1.1f, 1.3e-7) << p << " " << i;
    }
  EXPECT_EQ(t.cos(0)[0], 1.1f);
  EXPECT_EQ(t.sin(0)[0], 0.0f);
  EXPECT_EQ(t.bytes(), 2 * kPositions * 5 * 4);
}

TEST(Buffer, IsZeroedAlignedAndRefusesTheImpossible) {
  for (const size_t n : {0u, 1u, 63u, 100000u}) {
    const Buffer<float> b("a test", {n, 3});
    EXPECT_EQ(b.size(), 3 * n);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(b.data()) % 64, 0u);
    for (size_t i = 0; i < b.size(); i++) ASSERT_EQ(b.data()[i], 0);
  }
  for (const size_t big : {SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / 8, size_t{1} << 61})
    expect_words(error_of([&] { Buffer<float>("a test", {big, 2}); }), {"a test", "memory"});
  expect_words(error_of([] { Buffer<float>("a test", {size_t{1} << 32, size_t{1} << 32, 1}); }), {"a test", "memory"});
}

std::vector<const float*> scored;  // the keys of each call
void note_keys(const float* q, const float* k, float* s, size_t dim, size_t blocks, size_t queries, float scale) {
  scored.push_back(k);
  kern_table(Path::ref).attn_score_f32(q, k, s, dim, blocks, queries, scale);
}

// Four tiles at a time go through the segments, so that three of four find their keys in a cache.
TEST(Engine, APromptsTilesReadASegmentTogether) {
  const ModelShape s{.layers = 1, .dim = 32, .heads = 4, .kv_heads = 2, .head_dim = 16, .ffn = 32, .vocab = 17, .ctx = 600};
  const auto m = make_model(random_weights(s, true, 2), all(TType::q8));
  KernTable kern = kern_table(Path::ref);
  kern.attn_score_f32 = note_keys;
  Pool one(1);
  EngOptions opt;
  opt.chunk = 24;
  Engine e(*m, kern, one, opt);
  eng_fill(e, 512);
  scored.clear();
  std::vector<int32_t> ids(24);  // six tiles of four tokens and two heads for each KV head
  eng_step(e, ids, 512, {});
  const std::vector<ptrdiff_t> want = {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 0, 0, 1, 1, 2, 2};
  ASSERT_EQ(scored.size(), 2 * want.size());
  for (const size_t head : {size_t{0}, want.size()}) {
    std::vector<ptrdiff_t> segments;
    for (size_t i = 0; i < want.size(); i++) segments.push_back((scored[head + i] - scored[head]) / (ptrdiff_t{256} * 16));
    EXPECT_EQ(segments, want);
  }
}

}  // namespace
}  // namespace nyb::test
