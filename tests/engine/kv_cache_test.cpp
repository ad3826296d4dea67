// kv_cache_test.cpp - the cache read in order and by pages: the same bytes, and where it asks for what follows.
#include "engine/kv_cache.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "engine/attention.h"
#include "kern/cpu.h"

namespace nyb {
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

// Scores of 96 positions from 1,024 on, and the mixture of 93 values with them, where what follows ends at `end`.
std::vector<float> read(const KernTable& kern, const KvCache& cache, size_t end) {
  std::vector<float> q(kQueries * kDim), s(kQueries * kSegment), o(kQueries * kDim);
  for (size_t i = 0; i < q.size(); i++) q[i] = static_cast<float>(i % 23) / 32 - 0.3f;
  Buffer<uint8_t> arranged("test", {kv_scratch_bytes(cache.type(), kDim, kQueries)});
  EXPECT_EQ(cache.arrange(kern, q.data(), 0, kQueries, 1, arranged.data()), 1u);
  cache.score(kern, kLayer, kHead, 1024, 6, arranged.data(), kQueries, s.data(), 0.01f, end);
  cache.mix(kern, kLayer, kHead, 1024, 93, s.data(), kQueries, o.data(), end);
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
        EXPECT_EQ(read(kern_table(p), cache, end), want) << path_name(p) << ' ' << kv_name(type) << ' ' << end;
        EXPECT_EQ(read(pages_order(kern_table(p)), cache, end), want) << path_name(p) << ' ' << kv_name(type) << ' ' << end;
      }
    }
  }
}

// What was read by the kernels that ask: positions, from the first block or row on.
std::vector<std::pair<const void*, size_t>> asked;

template <class T, bool kAsks>
void score(const float*, const T* k, float*, size_t, size_t blocks, size_t, float) {
  if (kAsks) asked.emplace_back(k, blocks * kKeyBlock);
}
template <class T, bool kAsks>
void mix(const float*, const T* v, float*, size_t n, size_t, size_t) {
  if (kAsks) asked.emplace_back(v, n);
}

// How many positions the keys and the values of read() took with asking.
std::vector<size_t> asking(bool pages, const KvCache& cache, size_t end) {
  KernTable t = kern_table(Path::ref);
  t.attn_score_f32 = score<float, false>;
  t.attn_score_f32_pages = score<float, true>;
  t.attn_score_f16 = score<uint16_t, false>;
  t.attn_score_f16_pages = score<uint16_t, true>;
  t.attn_mix_f32 = mix<float, false>;
  t.attn_mix_f32_pages = mix<float, true>;
  t.attn_mix_f16 = mix<uint16_t, false>;
  t.attn_mix_f16_pages = mix<uint16_t, true>;
  asked.clear();
  read(pages ? pages_order(t) : t, cache, end);
  std::vector<size_t> positions;
  positions.reserve(asked.size());
  for (const auto& [from, n] : asked) positions.push_back(n);
  return positions;
}

TEST(KvCache, AsksOnlyWhere32KibFollow) {
  const KvCache f32 = filled(KvType::f32), f16 = filled(KvType::f16), q8 = filled(KvType::q8);
  const std::vector<size_t> none, both = {64, 32, 64, 29}, first = {64, 64}, keys = {64, 64, 29};
  EXPECT_EQ(asking(false, f32, kContext), none);
  EXPECT_EQ(asking(true, f32, 0), none);
  EXPECT_EQ(asking(true, f32, 1024 + 64 + 127), none);
  EXPECT_EQ(asking(true, f32, 1024 + 64 + 128), first);  // 256 bytes each
  EXPECT_EQ(asking(true, f32, 1024 + 93 + 127), first);
  EXPECT_EQ(asking(true, f32, 1024 + 93 + 128), keys);
  EXPECT_EQ(asking(true, f32, 1024 + 96 + 128), both);
  EXPECT_EQ(asking(true, f16, 1024 + 64 + 128), none);
  EXPECT_EQ(asking(true, f16, 1024 + 64 + 255), none);
  EXPECT_EQ(asking(true, f16, 1024 + 64 + 256), first);  // 128 bytes each
  EXPECT_EQ(asking(true, q8, kContext), none);
}

}  // namespace
}  // namespace nyb
