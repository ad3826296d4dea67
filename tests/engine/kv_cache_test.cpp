// kv_cache_test.cpp - the cache read in order and by pages: the same bytes, and where it asks for what follows.
#include "engine/kv_cache.h"

#include <gtest/gtest.h>

#include <tuple>
#include <utility>
#include <vector>

#include "engine/attention.h"
#include "kern/cpu.h"
#include "small_engine.h"

namespace nyb::test {
namespace {

constexpr size_t kDim = 64, kHead = 1, kLayer = 1, kContext = 1300, kQueries = 3;

ModelShape shape() { return {.layers = 2, .heads = 6, .kv_heads = 2, .head_dim = kDim, .ctx = kContext}; }

KvCache filled(KvType type) {
  KvCache cache(shape(), kContext, type);
  std::vector<float> k(2 * kDim), v(2 * kDim);
  Buffer<uint8_t> scratch("test", {kv_scratch_bytes(type, kDim, 1)});
  for (size_t pos = 0; pos < kContext; pos++) {
    for (size_t i = 0; i < k.size(); i++) {
      k[i] = static_cast<float>((pos * 7 + i * 31) % 97) - 48.3f;
      v[i] = static_cast<float>((pos * 13 + i * 5) % 89) - 44.1f;
    }
    EXPECT_TRUE(cache.store(kern_table(Path::ref), kLayer, pos, k.data(), v.data(), scratch.data()));
  }
  return cache;
}

// Scores of 96 positions from `pos` on, and the mixture of 93 values with them, where what follows ends at `end`.
std::vector<float> read(const KernTable& kern, const KvCache& cache, size_t end, size_t pos = 1024) {
  std::vector<float> q(kQueries * kDim), s(kQueries * kSegment), o(kQueries * kDim);
  for (size_t i = 0; i < q.size(); i++) q[i] = static_cast<float>(i % 23) / 32 - 0.3f;
  Buffer<uint8_t> arranged("test", {kv_scratch_bytes(cache.type(), kDim, kQueries)});
  EXPECT_EQ(cache.arrange(kern, q.data(), 0, kQueries, 1, arranged.data()), 1u);
  cache.score(kern, kLayer, kHead, pos, 6, arranged.data(), kQueries, s.data(), 0.01f, end);
  cache.mix(kern, kLayer, kHead, pos, 93, s.data(), kQueries, o.data(), end);
  s.insert(s.end(), o.begin(), o.end());
  return s;
}

TEST(KvCache, GivesTheSameByPages) {
  for (const KvType type : kKvTypes) {
    const KvCache cache = filled(type);
    const std::vector<float> want = read(kern_table(Path::ref), cache, kContext);
    for (const Path p : kAllPaths) {
      if (!cpu_missing(cpu_here(), p).empty()) continue;
      for (const size_t end : {size_t{1000}, size_t{1117}, kContext}) {
        EXPECT_TRUE(same(read(kern_table(p), cache, end), want)) << path_name(p) << ' ' << kv_name(type) << ' ' << end;
        for (const Order order : {Order::pages, Order::streams})
          EXPECT_TRUE(same(read(with_order(kern_table(p), order), cache, end), want))
              << path_name(p) << ' ' << kv_name(type) << ' ' << end << ' ' << order_name(order);
      }
    }
  }
}

// What a kernel was called with: the first block or row, and positions; and whether it asks for what follows.
struct Called {
  const void* from;
  size_t positions;
  bool asks;
};
std::vector<Called> score_calls, mix_calls;

template <class T, bool kAsks>
void score(const float*, const T* k, float*, size_t, size_t blocks, size_t, float) {
  score_calls.push_back({k, blocks * kKeyBlock, kAsks});
}
template <class T, bool kAsks>
void mix(const float*, const T* v, float*, size_t n, size_t, size_t) {
  mix_calls.push_back({v, n, kAsks});
}

KernTable noting(bool asks, Order order = Order::pages) {
  KernTable t = kern_table(Path::ref);
  t.attn_score_f32 = score<float, false>;
  t.attn_score_f32_pages = score<float, true>;
  t.attn_score_f16 = score<uint16_t, false>;
  t.attn_score_f16_pages = score<uint16_t, true>;
  t.attn_mix_f32 = mix<float, false>;
  t.attn_mix_f32_pages = mix<float, true>;
  t.attn_mix_f16 = mix<uint16_t, false>;
  t.attn_mix_f16_pages = mix<uint16_t, true>;
  return asks ? with_order(t, order) : t;
}

// Calls by their first position; those for keys, then those for values.
using Calls = std::vector<std::tuple<size_t, size_t, bool>>;
template <class F>
std::pair<Calls, Calls> calls_of(const KvCache& cache, F&& f) {
  score_calls.clear();
  mix_calls.clear();
  read(noting(false), cache, 0, 0);  // notes where position 0 lies
  f();
  const size_t row = kv_head_bytes(cache.type(), kDim) / 2;
  const auto told = [&](const std::vector<Called>& all) {
    Calls calls;
    for (size_t i = 1; i < all.size(); i++) {
      const ptrdiff_t at = static_cast<const uint8_t*>(all[i].from) - static_cast<const uint8_t*>(all[0].from);
      EXPECT_EQ(at % static_cast<ptrdiff_t>(row), 0);
      calls.emplace_back(static_cast<size_t>(at) / row, all[i].positions, all[i].asks);
    }
    return calls;
  };
  return {told(score_calls), told(mix_calls)};
}

TEST(KvCache, AsksOnlyWhere32KibFollow) {
  const KvCache f32 = filled(KvType::f32), f16 = filled(KvType::f16), q8 = filled(KvType::q8);
  const auto calls = [](bool pages, const KvCache& cache, size_t end) {
    return calls_of(cache, [&] { read(noting(pages), cache, end); });
  };
  const auto in_two = [](bool first, bool keys) {
    return std::pair<Calls, Calls>{{{1024, 64, first}, {1088, 32, keys}}, {{1024, 64, first}, {1088, 29, false}}};
  };
  const std::pair<Calls, Calls> whole{{{1024, 96, false}}, {{1024, 93, false}}}, none = in_two(false, false),
                                                                                 first = in_two(true, false);
  EXPECT_EQ(calls(false, f32, kContext), whole);
  EXPECT_EQ(calls(true, f32, 0), whole);
  EXPECT_EQ(calls(true, f32, 1024 + 64 + 127), none);
  EXPECT_EQ(calls(true, f32, 1024 + 64 + 128), first);  // 256 bytes each
  EXPECT_EQ(calls(true, f32, 1024 + 93 + 127), first);
  const auto values = [&](std::pair<Calls, Calls> c) {
    std::get<bool>(c.second[1]) = true;
    return c;
  };
  EXPECT_EQ(calls(true, f32, 1024 + 93 + 128), values(first));
  EXPECT_EQ(calls(true, f32, 1024 + 96 + 128), values(in_two(true, true)));
  EXPECT_EQ(calls_of(f32, [&] { read(noting(true, Order::streams), f32, 1024 + 64 + 128); }), first);
  EXPECT_EQ(calls(true, f16, 1024 + 64 + 128), none);
  EXPECT_EQ(calls(true, f16, 1024 + 64 + 255), none);
  EXPECT_EQ(calls(true, f16, 1024 + 64 + 256), first);  // 128 bytes each
  EXPECT_EQ(calls(true, q8, kContext), (std::pair<Calls, Calls>())) << "it has no kernels that ask";
}

// What is to follow is what the tile's last token sees. Only a chunk's first tokens ask: the others find it in a cache.
TEST(KvCache, AttentionAsksForAChunksFirstTokens) {
  const KvCache cache = filled(KvType::f32);
  AttnWork work(shape(), kContext, KvType::f32, 1);
  const auto calls = [&](bool pages, size_t token, size_t segment) {
    const AttnView view{kLayer, kHead, {kHead * kQueries, kQueries, token, 2}, 1.0f, {0, 0}, {447, 448}};
    return calls_of(cache, [&] {
      EXPECT_EQ(attend_segment(noting(pages), cache, view, segment, work.scratch[0].queries[0].data(),
                               work.scratch[0].scores.data(), work.parts[0], work.segments),
                2u);
    });
  };
  using Both = std::pair<Calls, Calls>;
  const Calls four = {{0, 64, true}, {64, 64, true}, {128, 64, true}, {192, 64, true}}, one = {{0, 256, false}};
  const Both later = {{{256, 192, false}}, {{256, 191, false}, {447, 1, false}}};
  EXPECT_EQ(calls(true, 0, 0), Both(four, four));
  EXPECT_EQ(calls(true, 0, 1), Both({{256, 64, true}, {320, 64, false}, {384, 64, false}},
                                    {{256, 64, true}, {320, 64, false}, {384, 63, false}, {447, 1, false}}));
  EXPECT_EQ(calls(true, 2, 0), Both(one, one));
  EXPECT_EQ(calls(true, 2, 1), later);
  EXPECT_EQ(calls(false, 0, 0), Both(one, one));
  EXPECT_EQ(calls(false, 0, 1), later);
}

}  // namespace
}  // namespace nyb::test
