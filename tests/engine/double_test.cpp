// double_test.cpp - the engine against the same model in double precision, written as plain loops over the plain weights.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>

#include "engine/engine.h"
#include "engine/sampler.h"
#include "paths.h"
#include "support/data.h"
#include "weights.h"

namespace nyb::test {
namespace {

using Vec = std::vector<double>;

Vec product(const std::vector<float>& w, const Vec& x, size_t rows) {
  Vec y(rows, 0.0);
  for (size_t r = 0; r < rows; r++)
    for (size_t k = 0; k < x.size(); k++) y[r] += static_cast<double>(w[r * x.size() + k]) * x[k];
  return y;
}

Vec norm(const Vec& x, const std::vector<float>& w, double eps) {
  double ss = 0;
  for (const double v : x) ss += v * v;
  const double r = 1 / std::sqrt(ss / static_cast<double>(x.size()) + eps);
  Vec y(x.size());
  for (size_t i = 0; i < x.size(); i++) y[i] = x[i] * r * w[i];
  return y;
}

class DoubleModel {
 public:
  explicit DoubleModel(const Weights& w) : w_(w), s_(w.shape), k_(s_.layers), v_(s_.layers) {}

  Vec step(int32_t id) {
    Vec x(s_.dim);
    for (size_t i = 0; i < s_.dim; i++) x[i] = w_.at.at("embed")[static_cast<size_t>(id) * s_.dim + i];
    for (size_t l = 0; l < s_.layers; l++) {
      const Vec h = norm(x, w_.layer(l, "attn_norm"), s_.norm_eps);
      Vec q = product(w_.layer(l, "q"), h, size_t{s_.heads} * s_.head_dim),
          k = product(w_.layer(l, "k"), h, size_t{s_.kv_heads} * s_.head_dim);
      turn(q);
      turn(k);
      k_[l].push_back(k);
      v_[l].push_back(product(w_.layer(l, "v"), h, size_t{s_.kv_heads} * s_.head_dim));
      add(x, product(w_.layer(l, "o"), attend(l, q), s_.dim));
      const Vec f = norm(x, w_.layer(l, "ffn_norm"), s_.norm_eps), g = product(w_.layer(l, "gate"), f, s_.ffn);
      Vec u = product(w_.layer(l, "up"), f, s_.ffn);
      for (size_t i = 0; i < u.size(); i++) u[i] *= g[i] / (1 + std::exp(-g[i]));
      add(x, product(w_.layer(l, "down"), u, s_.dim));
    }
    pos_++;
    return product(w_.at.at("embed"), norm(x, w_.at.at("out_norm"), s_.norm_eps), s_.vocab);
  }

 private:
  static void add(Vec& x, const Vec& y) {
    for (size_t i = 0; i < x.size(); i++) x[i] += y[i];
  }

  void turn(Vec& x) const {
    const size_t half = s_.head_dim / 2;
    for (size_t h = 0; h < x.size(); h += s_.head_dim)
      for (size_t i = 0; i < half; i++) {
        const double angle = static_cast<double>(pos_) * std::pow(10000.0, -2.0 * static_cast<double>(i) / s_.head_dim);
        const double a = x[h + i], b = x[h + half + i];
        x[h + i] = a * std::cos(angle) - b * std::sin(angle);
        x[h + half + i] = b * std::cos(angle) + a * std::sin(angle);
      }
  }

  Vec attend(size_t l, const Vec& q) const {
    Vec out(q.size(), 0.0);
    for (size_t h = 0; h < s_.heads; h++) {
      const size_t qh = h * s_.head_dim, kh = h / (s_.heads / s_.kv_heads) * s_.head_dim;
      Vec p;
      double sum = 0;
      for (const Vec& k : k_[l]) {
        double dot = 0;
        for (size_t d = 0; d < s_.head_dim; d++) dot += q[qh + d] * k[kh + d];
        p.push_back(std::exp(dot / std::sqrt(static_cast<double>(s_.head_dim))));
        sum += p.back();
      }
      for (size_t t = 0; t < p.size(); t++)
        for (size_t d = 0; d < s_.head_dim; d++) out[qh + d] += p[t] / sum * v_[l][t][kh + d];
    }
    return out;
  }

  const Weights& w_;
  const ModelShape& s_;
  std::vector<std::vector<Vec>> k_, v_;  // [layer][position]
  size_t pos_ = 0;
};

std::vector<int32_t> expected_ids() {
  std::ifstream in(data_dir() / "stories260K" / "expected_ids.txt");
  std::vector<int32_t> ids;
  for (int32_t id; in >> id;) ids.push_back(id);
  return ids;
}

// How far may f32 be from the truth? One rounding is at most u = 2^-24 = 6e-8 of its value. A product's output is one chain of n
// = 64 to 172 roundings of a growing sum: their errors are random, u * sqrt(n) / 2 of its final size or 4u to 7u. A layer adds
// four chains in a row to the residual stream; relative to the stream, of which one layer is a fifth, about 2u to 3u, and five
// layers' as a root of squares 5u to 6u; the head's own chain adds 4u of a typical logit. So 7u = 4e-7 of the largest logit at
// a typical position, and for the worst of 512 logits at 400 positions, some 3 to 4 deviations out, 1e-6. (This model in double
// with only the products' sums rounded to f32 in chains has 4.2e-7 and 9.5e-7; norms, softmax and rotations add little.) A wrong
// rotation, mask, scale or segment is off by 1e-3 and more.
constexpr double kMean = 6e-7, kWorst = 1.5e-6;

TEST(Double, StoriesInF32AreTheModel) {
  NYB_NEED_DATA();
  const Weights w = hf_weights((data_dir() / "stories260K" / "hf").string());
  const auto m = make_model(w, all(TType::f32));
  std::vector<int32_t> ids = expected_ids();
  ASSERT_EQ(ids.size(), 256u);
  ids.insert(ids.end(), ids.begin(), ids.begin() + 144);  // beyond the first segment of attention
  Pool pool(1);
  for (const Path path : {Path::ref, runnable_paths().back()}) {
    Engine e(*m, kern_table(path), pool);
    const EmulationWatch watch(*m, path);
    std::vector<float> logits(ids.size() * m->shape.vocab);
    eng_step(e, ids, 0, logits);
    DoubleModel truth(w);
    double worst = 0, sum = 0;
    for (size_t t = 0; t < ids.size(); t++) {
      const Vec want = truth.step(ids[t]);
      double largest = 0, off = 0;
      for (size_t i = 0; i < want.size(); i++) {
        largest = std::max(largest, std::abs(want[i]));
        off = std::max(off, std::abs(want[i] - static_cast<double>(logits[t * want.size() + i])));
      }
      EXPECT_LT(off, kWorst * largest) << path_name(path) << ", position " << t;
      worst = std::max(worst, off / largest);
      sum += off / largest;
    }
    const double mean = sum / static_cast<double>(ids.size());
    EXPECT_LT(mean, kMean) << path_name(path);
    std::printf("%s: %.2e of the largest logit at the worst position, %.2e on average\n", std::string(path_name(path)).c_str(),
                worst, mean);
  }
}

// The text that llama2.c's documentation prints for this model.
TEST(Double, StoriesAreToldAsExpected) {
  NYB_NEED_DATA();
  const auto m = make_model(hf_weights((data_dir() / "stories260K" / "hf").string()), all(TType::f32));
  const std::vector<int32_t> want = expected_ids();
  ASSERT_EQ(want.size(), 256u);
  Pool pool(2);
  for (const Path path : runnable_paths()) {
    Engine e(*m, kern_table(path), pool);
    const EmulationWatch watch(*m, path);
    Sampler greedy({0, 0.9f, 0, 64}, 1);
    std::vector<int32_t> ids{1};
    std::vector<float> logits(m->shape.vocab);
    while (ids.size() < want.size()) {
      eng_step(e, std::span(ids).last(1), static_cast<uint32_t>(ids.size() - 1), logits);
      ids.push_back(samp_pick(greedy, e.kern(), logits));
    }
    EXPECT_EQ(ids, want) << path_name(path);
  }
}

}  // namespace
}  // namespace nyb::test
