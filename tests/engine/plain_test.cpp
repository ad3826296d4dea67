// plain_test.cpp - the forward pass once more, in the plain words of numerics.md: row-major weights, no panels, no blocks, no
// chunks, one scalar operation after the other. The engine must give its bytes, so a change of any order, rounding or segment
// is seen, also one that all kernel paths would share.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>

#include "engine/engine.h"
#include "kern/dmath.h"
#include "kern/f16.h"
#include "kern/ref.h"
#include "model/format.h"
#include "model/quant.h"
#include "paths.h"
#include "support/ggml_blocks.h"
#include "weights.h"

namespace nyb::test {
namespace {

using Vec = std::vector<float>;

// Rule 2: sixteen strided partial sums, then the tree.
float tree(std::array<float, 16>& p) {
  for (size_t half = 8; half > 0; half /= 2)
    for (size_t i = 0; i < half; i++) p[i] += p[i + half];
  return p[0];
}

Vec norm(const Vec& x, const Vec& w, float eps) {
  std::array<float, 16> part{};
  for (size_t i = 0; i < x.size(); i++) part[i % 16] = ref::fma(x[i], x[i], part[i % 16]);
  const float ss = tree(part), rstd = 1.0f / std::sqrt(ss / static_cast<float>(x.size()) + eps);
  Vec y(x.size());
  for (size_t i = 0; i < x.size(); i++) y[i] = (x[i] * rstd) * w[i];
  return y;
}

// A matrix row by row: as it is, or as integers with a scale for each row (q8) or each group of 32 (q4), or as ggml's blocks say.
class Matrix {
 public:
  Matrix(const Vec& w, TType type, size_t cols) : type_(type), cols_(cols), groups_(groups_of(cols)), w_(w) {
    if (type == TType::f32) return;
    for (size_t r = 0; r < w.size() / cols && is_ggml(type); r++)
      ggml_.push_back(ggml_read(type, ggml_blocks_of(w, type, r, cols).data(), groups_ * kGroup));
    for (size_t r = 0; r < w.size() / cols && !is_ggml(type); r++) {
      Vec row(groups_ * kGroup, 0.0f);
      std::copy_n(w.begin() + static_cast<ptrdiff_t>(r * cols), cols, row.begin());
      std::vector<int8_t> q(row.size());
      if (type == TType::q8) scales_.push_back(quant_row_q8(row.data(), row.size(), q.data()));
      for (size_t g = 0; type == TType::q4 && g < groups_; g++)
        scales_.push_back(f16_to_f32(quant_group_q4(&row[g * kGroup], false, &q[g * kGroup])));
      q_.insert(q_.end(), q.begin(), q.end());
    }
  }

  size_t rows() const { return w_.size() / cols_; }

  Vec row(size_t r) const {
    Vec out(cols_);
    for (size_t k = 0; k < cols_; k++)
      out[k] = is_ggml(type_)        ? ggml_[r].value(k)
               : type_ == TType::f32 ? w_[r * cols_ + k]
                                     : static_cast<float>(q_[r * groups_ * kGroup + k]) * scale(r, k / kGroup);
    return out;
  }

  Vec times(const Vec& x) const {
    std::vector<QxGroup> qx(groups_);
    ref::qx_vec(x.data(), qx.data(), x.size());
    Vec y(rows());
    for (size_t r = 0; r < y.size(); r++) {
      float acc = 0;
      if (is_ggml(type_)) {
        for (size_t g = 0; g < groups_; g++) acc = ggml_group(ggml_[r], g, qx[g], acc);
      } else if (type_ == TType::f32) {
        for (size_t k = 0; k < cols_; k++) acc = ref::fma(w_[r * cols_ + k], x[k], acc);
      } else {
        for (size_t g = 0; g < groups_; g++) {
          int sum = 0;
          for (size_t i = 0; i < kGroup; i++) sum += q_[(r * groups_ + g) * kGroup + i] * qx[g].q[i];
          acc = ref::fma(static_cast<float>(sum), type_ == TType::q4 ? scale(r, g) * qx[g].scale : qx[g].scale, acc);
        }
      }
      y[r] = type_ == TType::q8 ? acc * scales_[r] : acc;
    }
    return y;
  }

 private:
  float ggml_group(const GgmlRow& row, size_t g, const QxGroup& x, float acc) const {
    int half[2] = {};
    for (size_t i = 0; i < kGroup; i++) half[i / 16] += row.q[g * kGroup + i] * x.q[i];
    const GgmlRow::Part &a = row.parts[2 * g], &b = row.parts[2 * g + 1];
    if (type_ == TType::q6k) return ref::fma(static_cast<float>(a.sc * half[0] + b.sc * half[1]), a.d * x.scale, acc);
    acc = ref::fma(static_cast<float>(half[0] + half[1]), (a.d * static_cast<float>(a.sc)) * x.scale, acc);
    return type_ == TType::q4k ? ref::fma(-(a.dmin * static_cast<float>(a.m)), x.xsum, acc) : acc;
  }
  float scale(size_t r, size_t g) const { return scales_[type_ == TType::q8 ? r : r * groups_ + g]; }

  TType type_;
  size_t cols_, groups_;
  const Vec& w_;
  std::vector<int8_t> q_;  // [rows][groups * 32]
  Vec scales_;
  std::vector<GgmlRow> ggml_;
};

class PlainModel {
 public:
  PlainModel(const Weights& w, TType type, KvType kv) : w_(w), s_(w.shape), kv_(kv), k_(s_.layers), v_(s_.layers) {
    for (const TensorSlot& slot : model_slots(s_, w.tied))
      if (slot.matrix) matrices_.try_emplace(slot.name, w.at.at(slot.name), type, slot.cols);
  }

  Vec step(int32_t id) {
    Vec x = matrices_.at("embed").row(static_cast<size_t>(id));
    for (size_t l = 0; l < s_.layers; l++) {
      const auto product = [&](const char* name, const Vec& in) {
        return matrices_.at("layers." + std::to_string(l) + "." + name).times(in);
      };
      const Vec h = norm(x, w_.layer(l, "attn_norm"), s_.norm_eps);
      Vec q = product("q", h), k = product("k", h), v = product("v", h);
      if (s_.qkv_bias) {
        add(q, w_.layer(l, "q_bias"));
        add(k, w_.layer(l, "k_bias"));
        add(v, w_.layer(l, "v_bias"));
      }
      if (s_.qk_norm) {
        norm_heads(q, w_.layer(l, "q_norm"));
        norm_heads(k, w_.layer(l, "k_norm"));
      }
      if (std::find(s_.no_rope.begin(), s_.no_rope.end(), l) == s_.no_rope.end()) {
        turn(q);
        turn(k);
      }
      k_[l].push_back(kept(k));
      v_[l].push_back(kept_values(v));
      Vec o = product("o", attend(l, q));
      if (s_.o_bias) add(o, w_.layer(l, "o_bias"));
      add(x, o);
      const Vec f = norm(x, w_.layer(l, "ffn_norm"), s_.norm_eps), u = product("up", f);
      Vec g = product("gate", f);
      for (size_t i = 0; i < g.size(); i++) g[i] = (g[i] / (1.0f + ref::exp8(-g[i]))) * u[i];
      add(x, product("down", g));
    }
    pos_++;
    return matrices_.at(w_.tied ? "embed" : "head").times(norm(x, w_.at.at("out_norm"), s_.norm_eps));
  }

 private:
  static void add(Vec& x, const Vec& y) {
    for (size_t i = 0; i < x.size(); i++) x[i] = x[i] + y[i];
  }

  Vec kept(Vec x) const {
    if (kv_ == KvType::f16)
      for (float& v : x) v = f16_to_f32(f32_to_f16(v));
    return x;
  }

  // A head, quantized.
  std::vector<QxGroup> quantized(const float* head) const {
    std::vector<QxGroup> q(groups_of(s_.head_dim));
    ref::qx_vec(head, q.data(), s_.head_dim);
    return q;
  }

  Vec kept_values(Vec v) const {
    for (size_t h = 0; kv_ == KvType::q8 && h < v.size(); h += s_.head_dim) {
      const std::vector<QxGroup> q = quantized(&v[h]);
      for (size_t d = 0; d < s_.head_dim; d++) v[h + d] = static_cast<float>(q[d / kGroup].q[d % kGroup]) * q[d / kGroup].scale;
    }
    return kept(v);
  }

  float score(const float* q, const float* k) const {
    float dot = 0;
    if (kv_ == KvType::q8) {
      const std::vector<QxGroup> a = quantized(q), b = quantized(k);
      for (size_t g = 0; g < a.size(); g++) {
        int sum = 0;
        for (size_t i = 0; i < kGroup; i++) sum += a[g].q[i] * b[g].q[i];
        dot = ref::fma(static_cast<float>(sum), b[g].scale * a[g].scale, dot);
      }
    } else {
      for (size_t d = 0; d < s_.head_dim; d++) dot = ref::fma(q[d], k[d], dot);
    }
    return dot * s_.attn_scale;
  }

  void norm_heads(Vec& x, const Vec& w) const {
    for (size_t h = 0; h < x.size(); h += s_.head_dim) {
      const auto begin = x.begin() + static_cast<ptrdiff_t>(h);
      const Vec y = norm(Vec(begin, begin + static_cast<ptrdiff_t>(s_.head_dim)), w, s_.norm_eps);
      std::copy(y.begin(), y.end(), begin);
    }
  }

  void turn(Vec& x) const {
    const size_t half = s_.rope_freqs.size();
    for (size_t h = 0; h < x.size(); h += s_.head_dim)
      for (size_t i = 0; i < half; i++) {
        const SinCos t = det_sincos(static_cast<double>(pos_) * s_.rope_freqs[i]);
        const float c = static_cast<float>(t.cos) * s_.rope_factor, s = static_cast<float>(t.sin) * s_.rope_factor;
        const float a = x[h + i], b = x[h + half + i];
        x[h + i] = ref::fma(a, c, -(b * s));
        x[h + half + i] = ref::fma(b, c, a * s);
      }
  }

  Vec attend(size_t l, const Vec& q) const {
    const size_t n = k_[l].size(), dim = s_.head_dim, window = s_.windows.empty() ? 0 : s_.windows[l];
    const size_t first = window == 0 || window > n ? 0 : n - window;
    Vec out(q.size());
    for (size_t head = 0; head < s_.heads; head++) {
      const size_t qh = head * dim, kh = head / (s_.heads / s_.kv_heads) * dim;
      std::vector<float> maxima, sums;
      std::vector<Vec> mixes;
      for (size_t segment = first / 256 * 256; segment < n; segment += 256) {
        const size_t begin = std::max(first, segment), end = std::min(n, segment + 256);
        Vec s, o(dim, 0.0f);
        for (size_t t = begin; t < end; t++) s.push_back(score(&q[qh], &k_[l][t][kh]));
        const float max = *std::max_element(s.begin(), s.end());
        std::array<float, 16> part{};
        for (size_t i = 0; i < s.size(); i++) {
          s[i] = ref::exp8(s[i] - max);
          part[i % 16] += s[i];
        }
        for (size_t t = begin; t < end; t++)
          for (size_t d = 0; d < dim; d++) o[d] = ref::fma(s[t - begin], v_[l][t][kh + d], o[d]);
        maxima.push_back(max);
        sums.push_back(tree(part));
        mixes.push_back(o);
      }
      const float m = *std::max_element(maxima.begin(), maxima.end());
      float sum = 0;
      Vec o(dim, 0.0f);
      for (size_t i = 0; i < maxima.size(); i++) {
        const float c = ref::exp8(maxima[i] - m);
        sum = ref::fma(c, sums[i], sum);
        for (size_t d = 0; d < dim; d++) o[d] = ref::fma(c, mixes[i][d], o[d]);
      }
      const float inverse = 1.0f / sum;
      for (size_t d = 0; d < dim; d++) out[qh + d] = o[d] * inverse;
    }
    return out;
  }

  const Weights& w_;
  const ModelShape& s_;
  KvType kv_;
  std::map<std::string, Matrix> matrices_;
  std::vector<std::vector<Vec>> k_, v_;  // [layer][position]
  size_t pos_ = 0;
};

void expect_plain(const Weights& w, TType type, size_t tokens) {
  const auto m = make_model(w, all(type));
  std::vector<int32_t> ids(tokens);
  for (size_t i = 0; i < tokens; i++) ids[i] = static_cast<int32_t>((i * i + 3 * i) % w.shape.vocab);
  Pool pool(2);
  for (const KvType kv : kKvTypes) {
    Vec want;
    PlainModel plain(w, type, kv);
    for (const int32_t id : ids) {
      const Vec l = plain.step(id);
      want.insert(want.end(), l.begin(), l.end());
    }
    for (const Path path : {Path::ref, runnable_paths().back()}) {
      EngOptions opt;
      opt.kv = kv;
      Engine e(*m, kern_table(path), pool, opt);
      const EmulationWatch watch(e);
      Vec is(want.size());
      eng_step(e, ids, 0, is);
      for (size_t i = 0; i < is.size(); i++)
        ASSERT_EQ(std::bit_cast<uint32_t>(is[i]), std::bit_cast<uint32_t>(want[i]))
            << path_name(path) << ", " << kv_name(kv) << " cache, position " << i / w.shape.vocab << ": " << is[i] << " and not "
            << want[i];
    }
  }
}

ModelShape shape(uint32_t layers, uint32_t dim, uint32_t heads, uint32_t kv_heads, uint32_t head_dim, uint32_t ffn, uint32_t ctx) {
  return {.layers = layers,
          .dim = dim,
          .heads = heads,
          .kv_heads = kv_heads,
          .head_dim = head_dim,
          .ffn = ffn,
          .vocab = 37,
          .ctx = ctx};
}

class Plain : public testing::TestWithParam<TType> {};
INSTANTIATE_TEST_SUITE_P(, Plain, testing::Values(TType::f32, TType::q8, TType::q4, TType::q80),
                         [](const auto& p) { return std::string(ttype_name(p.param)); });

TEST_P(Plain, EqualsTheEngine) { expect_plain(random_weights(shape(3, 64, 4, 2, 16, 172, 40), true, 21), GetParam(), 40); }

TEST_P(Plain, EqualsTheEngineOverThreeSegments) {
  expect_plain(random_weights(shape(2, 32, 2, 1, 8, 48, 600), true, 22), GetParam(), 530);
}

TEST_P(Plain, EqualsTheEngineInOddShapes) {
  ModelShape s = shape(2, 41, 6, 2, 10, 33, 40);
  s.rope_freqs = {1, 0.25, 0.01};  // four of ten dimensions stay as they are
  s.rope_factor = 1.3f;
  s.attn_scale = 0.4f;
  s.norm_eps = 1e-3f;
  expect_plain(random_weights(s, false, 23), GetParam(), 35);
}

class PlainBlocks : public testing::TestWithParam<TType> {};
INSTANTIATE_TEST_SUITE_P(, PlainBlocks, testing::Values(TType::q80, TType::q4k, TType::q6k),
                         [](const auto& p) { return std::string(ttype_name(p.param)); });

TEST_P(PlainBlocks, EqualsTheEngine) { expect_plain(random_weights(shape(1, 256, 4, 2, 64, 512, 16), true, 24), GetParam(), 8); }

// All that some families have at once: biases, norms of heads, a layer without RoPE, windows that begin anywhere in a block and end
// in another segment.
TEST_P(Plain, EqualsTheEngineWithAllThatFamiliesHave) {
  ModelShape s = shape(3, 48, 4, 2, 12, 40, 600);
  s.qkv_bias = s.o_bias = s.qk_norm = true;
  s.no_rope = {1};
  s.windows = {0, 21, 270};
  expect_plain(random_weights(s, false, 24), GetParam(), 300);
}

}  // namespace
}  // namespace nyb::test
