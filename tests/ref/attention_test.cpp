// attention_test.cpp - softmax numerators, scores, mix and merge, each by itself and together, against double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "kern/f16.h"
#include "kern/ref.h"
#include "ref/bits.h"
#include "ref/exact_fma.h"
#include "ref/rule2.h"

namespace nyb::test {
namespace {

constexpr double kExp8Error = 8.5e-8;
constexpr size_t kSegment = 256;

TEST(VecMax, IsTheGreatest) {
  Random rng(40);
  for (size_t n = 1; n < 70; ++n) {
    std::vector<float> x = normals(rng, n);
    for (float& v : x) v -= 5.0f;
    float max = 0;
    ASSERT_EQ(ref::vec_max(x.data(), &max, n), 0u);
    EXPECT_EQ(max, *std::max_element(x.begin(), x.end()));
  }
}

TEST(VecMax, AZeroIsPlusZero) {
  const float zeros[] = {-0.0f, -0.0f, -1.0f};
  float max = 1;
  ASSERT_EQ(ref::vec_max(zeros, &max, 3), 0u);
  EXPECT_EQ(bits_of(max), 0u);
}

TEST(VecMax, RefusesWhatIsNotFinite) {
  for (const uint32_t bad : {0x7f800000u, 0xff800000u, 0x7fc00000u, 0xffc00001u}) {
    for (size_t at = 0; at < 37; ++at) {
      std::vector<float> x(37, 1.0f);
      x[at] = from_bits(bad);
      float max = 0;
      EXPECT_EQ(ref::vec_max(x.data(), &max, 37), 1u) << at;
    }
  }
}

// The argument has two roundings, each at most u of its size, and e^(x + d) is e^x (1 + d) for such d; then exp8's own error.
TEST(SoftmaxNum, IsNearDouble) {
  Random rng(41);
  for (const float mul : {1.0f, 0.7f, 2.5f}) {
    const std::vector<float> x = normals(rng, 1000, 8.0f);
    const float max = *std::max_element(x.begin(), x.end());
    std::vector<float> p(x.size());
    const float sum = ref::softmax_num(x.data(), p.data(), x.size(), max, mul);
    double want_sum = 0;
    double bound_sum = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double arg = (static_cast<double>(x[i]) - max) * mul;
      if (arg < -87) continue;
      const double want = std::exp(arg);
      const double bound = (kExp8Error + 2 * kHalfUlp * std::fabs(arg)) * 1.001 * want;
      ASSERT_NEAR(p[i], want, bound) << i;
      want_sum += want;
      bound_sum += bound;
    }
    EXPECT_NEAR(sum, want_sum, bound_sum + (63.0 + 4) * kHalfUlp * want_sum);
  }
}

TEST(SoftmaxNum, SumsByRule2) {
  Random rng(42);
  for (size_t n = 0; n < 100; ++n) {
    std::vector<float> x = normals(rng, n);
    std::vector<float> p(n);
    const float sum = ref::softmax_num(x.data(), p.data(), n, 2.0f, 1.25f);
    float part[16] = {};
    for (size_t i = 0; i < n; ++i) {
      ASSERT_EQ(bits_of(p[i]), bits_of(ref::exp8((x[i] - 2.0f) * 1.25f)));
      part[i % 16] += p[i];
    }
    ASSERT_EQ(bits_of(sum), bits_of(rule2_tree(part))) << n;
    ASSERT_EQ(bits_of(ref::softmax_num(x.data(), x.data(), n, 2.0f, 1.25f)), bits_of(sum)) << "in place";
  }
}

// A cache of n positions, keys in blocks of sixteen positions and values in rows, both as the kernels want them.
struct Cache {
  size_t n, dim;
  std::vector<float> k, v;  // [position][dim]
  std::vector<float> key_blocks(size_t first, size_t count) const {
    std::vector<float> out((count + 15) / 16 * 16 * dim, 0.0f);
    for (size_t t = 0; t < count; ++t)
      for (size_t d = 0; d < dim; ++d) out[(t / 16 * dim + d) * 16 + t % 16] = k[(first + t) * dim + d];
    return out;
  }
};

Cache random_cache(Random& rng, size_t n, size_t dim) { return {n, dim, normals(rng, n * dim), normals(rng, n * dim)}; }

std::vector<uint16_t> halves(const std::vector<float>& x) {
  std::vector<uint16_t> out(x.size());
  for (size_t i = 0; i < x.size(); ++i) out[i] = f32_to_f16(x[i]);
  return out;
}

TEST(AttnScore, IsTheChainTimesTheScale) {
  Random rng(43);
  for (const size_t dim : {1u, 8u, 48u, 64u, 128u}) {
    const Cache c = random_cache(rng, 48, dim);
    const std::vector<float> q = normals(rng, dim);
    const std::vector<float> blocks = c.key_blocks(0, 48);
    std::vector<float> s(48);
    ref::attn_score_f32(q.data(), blocks.data(), s.data(), dim, 3, 1, 0.125f);
    for (size_t t = 0; t < 48; ++t) {
      float chain = 0;
      double want = 0;
      double size = 0;
      for (size_t d = 0; d < dim; ++d) {
        chain = exact_fma(q[d], c.k[t * dim + d], chain);
        want += static_cast<double>(q[d]) * c.k[t * dim + d];
        size += std::fabs(static_cast<double>(q[d]) * c.k[t * dim + d]);
      }
      ASSERT_EQ(bits_of(s[t]), bits_of(chain * 0.125f)) << t;
      ASSERT_NEAR(s[t], want * 0.125, static_cast<double>(dim + 1) * kHalfUlp * size * 0.125 * 1.001) << t;
    }
  }
}

TEST(AttnMix, IsTheChainOverPositions) {
  Random rng(44);
  for (const size_t n : {0u, 1u, 7u, 100u, 256u}) {
    constexpr size_t dim = 40;
    const Cache c = random_cache(rng, n, dim);
    std::vector<float> p(n), o(dim, 0.0f);
    for (float& v : p) v = rng.uniform(0.0f, 1.0f);
    ref::attn_mix_f32(p.data(), c.v.data(), o.data(), n, dim, 1);
    for (size_t d = 0; d < dim; ++d) {
      float chain = 0;
      double want = 0;
      double size = 0;
      for (size_t t = 0; t < n; ++t) {
        chain = exact_fma(p[t], c.v[t * dim + d], chain);
        want += static_cast<double>(p[t]) * c.v[t * dim + d];
        size += std::fabs(static_cast<double>(p[t]) * c.v[t * dim + d]);
      }
      ASSERT_EQ(bits_of(o[d]), bits_of(chain));
      ASSERT_NEAR(o[d], want, static_cast<double>(n) * kHalfUlp * size * 1.001);
    }
  }
}

// Several queries are each what one alone is, in rows of 256 scores; a mix goes on from what is there.
TEST(Attn, QueriesTogetherAreEachAlone) {
  Random rng(48);
  constexpr size_t dim = 16, n = 48, queries = 3, row = 256;
  const Cache c = random_cache(rng, n, dim);
  const std::vector<float> q = normals(rng, queries * dim), blocks = c.key_blocks(0, n), before = normals(rng, queries * dim);
  std::vector<float> together(q.size()), s(queries * row, 7.0f), o = before;
  for (size_t i = 0; i < queries; ++i)
    for (size_t d = 0; d < dim; ++d) together[d * queries + i] = q[i * dim + d];
  ref::attn_score_f32(together.data(), blocks.data(), s.data(), dim, n / 16, queries, 0.5f);
  ref::attn_mix_f32(s.data(), c.v.data(), o.data(), n, dim, queries);
  for (size_t i = 0; i < queries; ++i) {
    std::vector<float> alone(n), part(before.begin() + i * dim, before.begin() + (i + 1) * dim);
    ref::attn_score_f32(q.data() + i * dim, blocks.data(), alone.data(), dim, n / 16, 1, 0.5f);
    for (size_t t = 0; t < row; ++t) ASSERT_EQ(bits_of(s[i * row + t]), bits_of(t < n ? alone[t] : 7.0f)) << t;
    ref::attn_mix_f32(alone.data(), c.v.data(), part.data(), 20, dim, 1);
    ref::attn_mix_f32(alone.data() + 20, c.v.data() + 20 * dim, part.data(), n - 20, dim, 1);
    for (size_t d = 0; d < dim; ++d) ASSERT_EQ(bits_of(o[i * dim + d]), bits_of(part[d])) << d;
  }
}

// A cache in f16 is the cache of its values in f32: f16 to f32 is exact.
TEST(AttnF16, EqualsF32OnTheSameValues) {
  Random rng(45);
  constexpr size_t dim = 64, n = 64;
  Cache c = random_cache(rng, n, dim);
  c.k[5] = 0x1p-24f;  // a subnormal half
  const std::vector<float> q = normals(rng, dim);
  std::vector<float> p(n), s16(n), s32(n), o16(dim), o32(dim);
  for (float& v : p) v = rng.uniform(0.0f, 1.0f);
  for (float& v : c.k) v = f16_to_f32(f32_to_f16(v));
  for (float& v : c.v) v = f16_to_f32(f32_to_f16(v));
  const std::vector<float> blocks = c.key_blocks(0, n);
  ref::attn_score_f32(q.data(), blocks.data(), s32.data(), dim, n / 16, 1, 0.125f);
  ref::attn_score_f16(q.data(), halves(blocks).data(), s16.data(), dim, n / 16, 1, 0.125f);
  ref::attn_mix_f32(p.data(), c.v.data(), o32.data(), n, dim, 1);
  ref::attn_mix_f16(p.data(), halves(c.v).data(), o16.data(), n, dim, 1);
  for (size_t t = 0; t < n; ++t) ASSERT_EQ(bits_of(s16[t]), bits_of(s32[t]));
  for (size_t d = 0; d < dim; ++d) ASSERT_EQ(bits_of(o16[d]), bits_of(o32[d]));
}

// A quantized cache in words: keys as integers times integers of the query, group by group; values as the products that they are.
TEST(AttnQ8, EqualsTheGroupsOfQxVec) {
  Random rng(49);
  constexpr size_t dim = 64, n = 32, groups = dim / 32;
  const Cache c = random_cache(rng, n, dim);
  const std::vector<float> q = normals(rng, dim);
  std::vector<QxGroup> qx(groups), kx(n * groups), vx(n * groups);
  ASSERT_EQ(ref::qx_vec(q.data(), qx.data(), dim), 0u);
  ASSERT_EQ(ref::qx_vec(c.k.data(), kx.data(), n * dim), 0u);
  ASSERT_EQ(ref::qx_vec(c.v.data(), vx.data(), n * dim), 0u);
  std::vector<uint8_t> k(n / 16 * groups * kKeyGroupBytes), v(n * groups * kValueGroupBytes);
  for (size_t t = 0; t < n; ++t)
    for (size_t g = 0; g < groups; ++g) {
      uint8_t* block = k.data() + (t / 16 * groups + g) * kKeyGroupBytes;
      for (size_t d = 0; d < 32; ++d) block[(d / 4 * 16 + t % 16) * 4 + d % 4] = static_cast<uint8_t>(kx[t * groups + g].q[d]);
      std::memcpy(block + 512 + t % 16 * 4, &kx[t * groups + g].scale, 4);
      uint8_t* row = v.data() + (t * groups + g) * kValueGroupBytes;
      std::memcpy(row, &vx[t * groups + g].scale, 4);
      std::memcpy(row + 4, vx[t * groups + g].q, 32);
    }
  std::vector<float> s(n), o(dim, 0.0f);
  ref::attn_score_q8(qx.data(), k.data(), s.data(), groups, n / 16, 1, 0.125f);
  ref::attn_mix_q8(s.data(), v.data(), o.data(), n, dim, 1);
  double error = 0, size = 0;
  for (size_t t = 0; t < n; ++t) {
    float chain = 0;
    double exact = 0;
    for (size_t g = 0; g < groups; ++g) {
      const QxGroup &a = qx[g], &b = kx[t * groups + g];
      int64_t sum = 0;
      for (size_t d = 0; d < 32; ++d) sum += int64_t{a.q[d]} * b.q[d];
      chain = exact_fma(static_cast<float>(sum), b.scale * a.scale, chain);
      for (size_t d = 0; d < 32; ++d) exact += static_cast<double>(q[g * 32 + d]) * c.k[t * dim + g * 32 + d];
    }
    ASSERT_EQ(bits_of(s[t]), bits_of(chain * 0.125f)) << t;
    error += std::pow(s[t] - exact * 0.125, 2);
    size += std::pow(exact * 0.125, 2);
  }
  // each factor is off by amax / 254 at most, amax some 2.5 of normal numbers: 0.006 in the root mean square, and there are two
  EXPECT_LT(std::sqrt(error / size), 0.02);
  for (size_t d = 0; d < dim; ++d) {
    float chain = 0;
    for (size_t t = 0; t < n; ++t) {
      const QxGroup& b = vx[t * groups + d / 32];
      chain = exact_fma(s[t], static_cast<float>(b.q[d % 32]) * b.scale, chain);
    }
    ASSERT_EQ(bits_of(o[d]), bits_of(chain)) << d;
  }
}

// Segments merged, against the formula operation by operation.
TEST(AttnMerge, IsTheChainOverSegments) {
  Random rng(46);
  for (const size_t segments : {1u, 2u, 3u, 9u}) {
    constexpr size_t dim = 24;
    std::vector<float> ml, out(dim);
    const std::vector<float> o = normals(rng, segments * dim);
    float max = -std::numeric_limits<float>::infinity();
    for (size_t k = 0; k < segments; ++k) {
      ml.push_back(rng.normal() * 4.0f);
      ml.push_back(rng.uniform(1.0f, 200.0f));
      max = std::max(max, ml[2 * k]);
    }
    ref::attn_merge(ml.data(), o.data(), out.data(), segments, dim, dim);
    float total = 0;
    for (size_t k = 0; k < segments; ++k) total = exact_fma(ref::exp8(ml[2 * k] - max), ml[2 * k + 1], total);
    for (size_t d = 0; d < dim; ++d) {
      float chain = 0;
      for (size_t k = 0; k < segments; ++k) chain = exact_fma(ref::exp8(ml[2 * k] - max), o[k * dim + d], chain);
      ASSERT_EQ(bits_of(out[d]), bits_of(chain * (1.0f / total))) << segments;
    }
  }
}

// Whole attention over n positions against a softmax in double.
//
// A score is off by at most (dim + 1) u S, S the greatest sum of |q k| times the scale; m_k, M and the differences s - m_k,
// m_k - M come from rounded scores, but a shift of numerator and denominator alike cancels, so that each weight's exponent is off
// by (dim + 1) u S and by u |s - m_k| + u |m_k - M|, at most 4 u S. exp8 twice: 2 * 8.5e-8. Call the sum of these d; a weight's
// relative error acts on numerator and denominator, 2 d. Chains over 256 positions, over the segments and rule 2's sum,
// reciprocal and product: (256 + segments) u above, (16 + 4 + segments) u below, 3 u.
void whole_attention(size_t n, size_t dim, float size) {
  Random rng(47 + n);
  const Cache c = random_cache(rng, n, dim);
  const std::vector<float> q = normals(rng, dim, size);
  const float scale = 1.0f / std::sqrt(static_cast<float>(dim));
  const size_t segments = (n + kSegment - 1) / kSegment;
  std::vector<float> ml, o(segments * dim), out(dim);
  for (size_t k = 0; k < segments; ++k) {
    const size_t first = k * kSegment;
    const size_t count = std::min(kSegment, n - first);
    const std::vector<float> blocks = c.key_blocks(first, count);
    std::vector<float> s(kSegment);
    ref::attn_score_f32(q.data(), blocks.data(), s.data(), dim, (count + 15) / 16, 1, scale);
    float max = 0;
    ASSERT_EQ(ref::vec_max(s.data(), &max, count), 0u);
    ml.push_back(max);
    ml.push_back(ref::softmax_num(s.data(), s.data(), count, max, 1.0f));
    ref::attn_mix_f32(s.data(), c.v.data() + first * dim, o.data() + k * dim, count, dim, 1);
  }
  ref::attn_merge(ml.data(), o.data(), out.data(), segments, dim, dim);

  std::vector<double> score(n);
  double greatest = 0;
  for (size_t t = 0; t < n; ++t) {
    double sum = 0;
    for (size_t d = 0; d < dim; ++d) {
      score[t] += static_cast<double>(q[d]) * c.k[t * dim + d] * scale;
      sum += std::fabs(static_cast<double>(q[d]) * c.k[t * dim + d] * scale);
    }
    greatest = std::max(greatest, sum);
  }
  const double max = *std::max_element(score.begin(), score.end());
  double total = 0;
  for (double& s : score) total += (s = std::exp(s - max));
  const double d_weight = (static_cast<double>(dim) + 1 + 4) * kHalfUlp * greatest + 2 * kExp8Error;
  const double bound = 2 * d_weight + static_cast<double>(256 + 20 + 2 * segments + 3) * kHalfUlp;
  for (size_t d = 0; d < dim; ++d) {
    double want = 0;
    double magnitude = 0;
    for (size_t t = 0; t < n; ++t) {
      want += score[t] * c.v[t * dim + d] / total;
      magnitude += score[t] * std::fabs(c.v[t * dim + d]) / total;
    }
    ASSERT_NEAR(out[d], want, bound * magnitude) << n << " positions, dimension " << d;
  }
}

TEST(Attention, IsNearDouble) {
  for (const size_t n : {1u, 2u, 16u, 17u, 255u, 256u, 257u, 700u, 1024u}) whole_attention(n, 64, 1.0f);
  whole_attention(300, 48, 4.0f);
  whole_attention(513, 128, 0.1f);
}

}  // namespace
}  // namespace nyb::test
