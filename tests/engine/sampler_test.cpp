// sampler_test.cpp - the sampler against the plain words of numerics.md: sort everything, then cut, then draw.
#include "engine/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>
#include <numeric>
#include <random>

#include "kern/cpu.h"
#include "kern/error.h"
#include "kern/mxcsr.h"
#include "kern/ref.h"

namespace nyb {
namespace {

constexpr float kInf = INFINITY;

// xoshiro256** and splitmix64 once more, from their authors' descriptions.
struct PlainRng {
  std::array<uint64_t, 4> s{};
  static uint64_t split(uint64_t& state) {
    state += 0x9e3779b97f4a7c15ull;
    uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  static uint64_t left(uint64_t x, unsigned k) { return (x << k) + (x >> (64 - k)); }
  uint64_t next() {
    const uint64_t result = left(s[1] * 5, 7) * 9;
    const std::array<uint64_t, 4> o = s;
    s[0] = o[0] ^ o[1] ^ o[3];
    s[1] = o[0] ^ o[1] ^ o[2];
    s[2] = o[0] ^ o[2] ^ (o[1] << 17);
    s[3] = left(o[1] ^ o[3], 45);
    return result;
  }
};

struct PlainSampler {
  SampParams p;
  PlainRng rng;
  PlainSampler(const SampParams& params, uint64_t seed) : p(params) {
    for (uint64_t& s : rng.s) s = PlainRng::split(seed);
  }

  int32_t pick(std::vector<float> l) {
    std::vector<uint32_t> ids;
    ids.reserve(l.size());
    for (size_t i = 0; i < l.size(); i++)
      if (std::isfinite(l[i])) ids.push_back(static_cast<uint32_t>(i));
    std::stable_sort(ids.begin(), ids.end(), [&](uint32_t a, uint32_t b) { return l[a] > l[b]; });
    if (p.temp == 0) return static_cast<int32_t>(ids[0]);
    const float max = l[ids[0]], mul = std::min(1.0f / p.temp, FLT_MAX);
    std::vector<float> e(l.size(), 0.0f);
    for (const uint32_t i : ids) e[i] = ref::exp8((l[i] - max) * mul);
    float part[16] = {};
    for (size_t i = 0; i < e.size(); i++) part[i % 16] += e[i];
    for (const size_t half : {8u, 4u, 2u, 1u})
      for (size_t i = 0; i < half; i++) part[i] += part[i + half];
    const float total = part[0];

    if (p.top_k > 0 && p.top_k < ids.size()) ids.resize(p.top_k);
    const float least = p.min_p * e[ids[0]];
    ids.erase(std::find_if(ids.begin(), ids.end(), [&](uint32_t i) { return e[i] < least; }), ids.end());
    std::vector<float> c;
    c.reserve(ids.size());
    float sum = 0;
    for (const uint32_t i : ids) c.push_back(sum += e[i]);
    if (p.top_p < 1) {
      const auto enough = std::find_if(c.begin(), c.end(), [&](float x) { return x >= p.top_p * total; });
      if (enough != c.end()) c.erase(enough + 1, c.end());
    }
    const float u = static_cast<float>(rng.next() >> 40) * 0x1p-24f;
    const auto drawn = std::find_if(c.begin(), c.end(), [&](float x) { return x > u * c.back(); });
    return static_cast<int32_t>(ids[static_cast<size_t>(std::min(drawn - c.begin(), c.end() - c.begin() - 1))]);
  }
};

const KernTable& best() {
  static const KernChoice choice = kern_pick(cpu_here());
  return choice.table;
}

std::vector<float> random_logits(std::mt19937_64& rng, size_t n, float size, bool coarse) {
  std::vector<float> l(n);
  for (float& x : l) {
    x = (static_cast<float>(rng() >> 40) * 0x1p-23f - 1) * size;
    if (coarse) x = std::round(x);  // many ties
  }
  return l;
}

TEST(Rng, HasTheKnownAnswers) {
  uint64_t seed = 1234567;
  for (const uint64_t want :
       {6457827717110365317u, 3203168211198807973u, 9817491932198370423u, 4593380528125082431u, 16408922859458223821u})
    EXPECT_EQ(PlainRng::split(seed), want);
  PlainRng plain{{1, 2, 3, 4}};
  for (const uint64_t want : {11520u, 0u, 1509978240u}) EXPECT_EQ(plain.next(), want);
  EXPECT_EQ(plain.next(), 1215971899390074240u);
  Rng zero(0);
  for (const uint64_t want : {0x99ec5f36cb75f2b4u, 0xbf6e1f784956452au, 0x1a5f849d4933e6e0u, 0x6aa594f1262d2d2cu})
    EXPECT_EQ(zero.next(), want);
}

TEST(Rng, EqualsTheOtherImplementation) {
  for (const uint64_t seed : {uint64_t{0}, uint64_t{1}, uint64_t{1234567}, UINT64_MAX}) {
    PlainSampler plain({}, seed);
    Rng rng(seed);
    for (int i = 0; i < 1000; i++) ASSERT_EQ(rng.next(), plain.rng.next());
  }
}

TEST(Sampler, EqualsTheOtherImplementation) {
  std::mt19937_64 rng(7);
  const SampParams settings[] = {{},
                                 {1, 1, 0, 0},
                                 {1, 0.5f, 0, 0},
                                 {0.3f, 0.99f, 0.02f, 0},
                                 {2, 1, 0.1f, 10},
                                 {0.7f, 0.9f, 0, 1},
                                 {1.3f, 0, 0, 0},
                                 {5, 0.999f, 0, 1000000},
                                 {1, 1, 1, 0},
                                 {0, 0.9f, 0, 64},
                                 {1e-40f, 0.9f, 0, 64},
                                 {1e-6f, 1, 0, 0},
                                 {1e30f, 1, 0, 0},
                                 {1e30f, 0.5f, 0, 200}};
  for (const SampParams& p : settings) {
    for (const size_t n : {1u, 2u, 15u, 16u, 17u, 63u, 64u, 65u, 512u, 2048u, 5003u}) {
      for (const bool coarse : {false, true}) {
        SCOPED_TRACE(testing::Message() << "temp " << p.temp << " top-p " << p.top_p << " min-p " << p.min_p << " top-k " << p.top_k
                                        << " n " << n);
        Sampler s(p, n);
        PlainSampler plain(p, n);
        for (int i = 0; i < 6; i++) {
          const std::vector<float> l = random_logits(rng, n, coarse ? 6.0f : 12.0f, coarse);
          ASSERT_EQ(samp_pick(s, best(), l), plain.pick(l)) << i;
        }
        EXPECT_EQ(s.rng.next(), plain.rng.next());  // as many draws
        EXPECT_FALSE(s.warned_not_finite);
      }
    }
  }
}

TEST(Sampler, IsTheSameOnEveryPath) {
  std::mt19937_64 rng(8);
  for (const Path path : kAllPaths) {
    if (!cpu_missing(cpu_here(), path).empty()) continue;
    Sampler a({1, 0.95f, 0, 0}, 3), b = a;
    for (int i = 0; i < 20; i++) {
      const std::vector<float> l = random_logits(rng, 777, 10, false);
      ASSERT_EQ(samp_pick(a, kern_table(path), l), samp_pick(b, kern_table(Path::ref), l)) << path_name(path);
    }
  }
}

TEST(Sampler, TakesTheLowestIdOfTheBestAtTemperatureZero) {
  Sampler s({0, 0.9f, 0, 64}, 5);
  const Rng before = s.rng;
  EXPECT_EQ(samp_pick(s, best(), std::vector<float>{1, 3, 2, 3, 3}), 1);
  EXPECT_EQ(samp_pick(s, best(), std::vector<float>{-7, -7}), 0);
  EXPECT_EQ(samp_pick(s, best(), std::vector<float>{-1, -0.0f, 0.0f}), 1);
  EXPECT_EQ(samp_pick(s, best(), std::vector<float>{-FLT_MAX}), 0);
  Rng same = before;
  EXPECT_EQ(s.rng.next(), same.next());  // nothing was drawn
}

TEST(Sampler, KeepsAtLeastOneAndDrawsOnce) {
  for (const SampParams& p :
       {SampParams{1, 0, 0, 0}, SampParams{1, 0.9f, 1, 0}, SampParams{1, 1, 0, 1}, SampParams{1e-45f, 1, 0, 0}}) {
    Sampler s(p, 11);
    Rng rng(11);
    for (int i = 0; i < 10; i++) {
      EXPECT_EQ(samp_pick(s, best(), std::vector<float>{0, 5, 1, 4.99f}), 1);
      (void)rng.next();
    }
    EXPECT_EQ(s.rng.next(), rng.next());
  }
}

// The first running sum above u times the whole, not the one that equals it: 256 equal tokens, and a draw that is a whole number
// of 256ths.
TEST(Sampler, DrawsTheFirstBeyondNotAt) {
  uint64_t seed = 0, draw = 0;
  do draw = Rng(++seed).next() >> 40;
  while (draw % 65536 != 0 || draw == 0);
  Sampler s({1, 1, 0, 0}, seed);
  EXPECT_EQ(samp_pick(s, best(), std::vector<float>(256, 3.0f)), static_cast<int32_t>(draw >> 16));
}

TEST(Sampler, ReachesEveryToken) {
  Sampler s({1, 1, 0, 0}, 1);
  std::array<int, 4> hits{};
  for (int i = 0; i < 40000; i++) hits[static_cast<size_t>(samp_pick(s, best(), std::vector<float>{0, 1, 2, -1}))]++;
  const double sum = 1 + std::exp(1) + std::exp(2) + std::exp(-1);
  const double want[] = {1 / sum, std::exp(1) / sum, std::exp(2) / sum, std::exp(-1) / sum};
  for (size_t i = 0; i < 4; i++) EXPECT_NEAR(hits[i] / 40000.0, want[i], 4 * std::sqrt(want[i] / 40000)) << i;
}

// The worst of those kept goes, also where it came last.
TEST(Sampler, KeepsTheBest) {
  SampParams p;
  p.temp = 10;
  p.top_p = 1;
  p.top_k = 2;
  Sampler s(p, 5);
  size_t seen[4] = {};
  for (int i = 0; i < 200; i++) seen[samp_pick(s, kern_table(Path::ref), std::vector<float>{10, 1, 5, 7}, {})]++;
  EXPECT_EQ(seen[1] + seen[2], 0u);
  EXPECT_GT(seen[0], 0u);
  EXPECT_GT(seen[3], 0u);
}

TEST(Sampler, LeavesOutWhatIsNotFinite) {
  std::mt19937_64 rng(9);
  for (const SampParams& p : {SampParams{}, SampParams{0, 0.9f, 0, 64}, SampParams{1, 1, 0, 0}, SampParams{1e20f, 1, 0, 0}}) {
    Sampler s(p, 2);
    PlainSampler plain(p, 2);
    for (int i = 0; i < 50; i++) {
      std::vector<float> l = random_logits(rng, 100, 8, true);
      for (size_t j = 0; j < 100; j += 1 + rng() % 3) l[j] = std::array{kInf, -kInf, NAN}[rng() % 3];
      l[rng() % 100] = -200;
      const int32_t id = samp_pick(s, best(), l);
      ASSERT_TRUE(std::isfinite(l[static_cast<size_t>(id)]));
      ASSERT_EQ(id, plain.pick(l));
    }
    EXPECT_TRUE(s.warned_not_finite);
  }
}

TEST(Sampler, RefusesLogitsWithoutANumber) {
  for (const float temp : {0.0f, 1.0f}) {
    Sampler s({temp, 0.9f, 0, 64}, 2);
    EXPECT_THROW(samp_pick(s, best(), std::vector<float>{NAN, kInf, -kInf}), Error);
    EXPECT_THROW(samp_pick(s, best(), {}), Error);
    EXPECT_EQ(samp_pick(s, best(), std::vector<float>{NAN, -FLT_MAX}), 1);
  }
}

TEST(Sampler, RefusesSettingsThatMakeNoSense) {
  const SampParams bad[] = {{NAN, 1, 0, 0},    {kInf, 1, 0, 0},  {-0.1f, 1, 0, 0}, {1, NAN, 0, 0},
                            {1, 1.001f, 0, 0}, {1, -1, 0, 0},    {1, kInf, 0, 0},  {1, 1, NAN, 0},
                            {1, 1, -1, 0},     {1, 1, 1.01f, 0}, {1, 1, kInf, 0},  {-kInf, 1, 0, 0}};
  for (const SampParams& p : bad) EXPECT_THROW(Sampler(p, 1), Error) << p.temp << " " << p.top_p << " " << p.min_p;
  for (const SampParams& p : {SampParams{0, 0, 0, 0}, SampParams{FLT_MAX, 1, 1, UINT32_MAX}}) EXPECT_NO_THROW(p.check());
  try {
    SampParams{1, 2, 0, 0}.check();
    ADD_FAILURE();
  } catch (const Error& e) { EXPECT_NE(std::string(e.what()).find("top-p is 2"), std::string::npos) << e.what(); }
}

// Extremes of logits: the greatest floats far apart, all the same, denormals.
TEST(Sampler, TakesAnyFiniteLogits) {
  for (const SampParams& p : {SampParams{}, SampParams{0.01f, 1, 0, 0}, SampParams{FLT_MAX, 1, 0, 0}}) {
    Sampler s(p, 4);
    PlainSampler plain(p, 4);
    for (const std::vector<float>& l :
         {std::vector<float>{FLT_MAX, -FLT_MAX, FLT_MAX}, std::vector<float>(300, 2.5f), std::vector<float>(17, -FLT_MAX),
          std::vector<float>{1e-45f, 0, -1e-45f}, std::vector<float>{0, -1e38f, -3e38f}})
      for (int i = 0; i < 5; i++) EXPECT_EQ(samp_pick(s, best(), l), plain.pick(l));
  }
}

TEST(Sampler, RestoresTheFloatEnvironment) {
  const unsigned before = _mm_getcsr();
  _mm_setcsr(0x1F80 | 0x6000);  // rounding to zero
  Sampler s({}, 6);
  (void)samp_pick(s, best(), std::vector<float>{1, 2, 3});
  const unsigned after = _mm_getcsr();
  _mm_setcsr(before);
  EXPECT_EQ(after, 0x1F80u | 0x6000u);
}

}  // namespace
}  // namespace nyb
