// double_test.cpp - the engine against the same model in double precision.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>

#include "double_model.h"
#include "engine/engine.h"
#include "engine/sampler.h"
#include "paths.h"
#include "support/data.h"
#include "support/family_folder.h"
#include "weights.h"

namespace nyb::test {
namespace {

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
struct Bounds {
  double mean, worst;
};
constexpr Bounds kStories{6e-7, 1.5e-6};
// The families' random models have chains of 48 to 80, 4u each, and every attention and feed-forward part is as large as the stream
// that it is added to: two products in a row and what is between them (scores within 5 or so, whose errors exp hands on) make 8u
// of it, eight parts as a root of squares 8u * sqrt(8 / 2) = 16u = 1e-6; twice that and more for the worst of 67 logits at 300
// positions.
constexpr Bounds kFamilies{1.2e-6, 4e-6};

// The model of the folder, in f32, against that folder in double: every logit of every position, on the reference and the widest
// path.
void expect_double(const Model& m, const std::string& folder, const std::vector<int32_t>& ids, const Bounds& bounds) {
  Pool pool(1);
  for (const Path path : {Path::ref, runnable_paths().back()}) {
    Engine e(m, kern_table(path), pool);
    const EmulationWatch watch(e);
    std::vector<float> logits(ids.size() * m.shape.vocab);
    eng_step(e, ids, 0, logits);
    DoubleModel truth(folder);
    double worst = 0, sum = 0;
    for (size_t t = 0; t < ids.size(); t++) {
      const DoubleModel::Vec want = truth.step(ids[t]);
      ASSERT_EQ(want.size(), m.shape.vocab);
      double largest = 0, off = 0;
      for (size_t i = 0; i < want.size(); i++) {
        largest = std::max(largest, std::abs(want[i]));
        off = std::max(off, std::abs(want[i] - static_cast<double>(logits[t * want.size() + i])));
      }
      EXPECT_LT(off, bounds.worst * largest) << path_name(path) << ", position " << t;
      worst = std::max(worst, off / largest);
      sum += off / largest;
    }
    const double mean = sum / static_cast<double>(ids.size());
    EXPECT_LT(mean, bounds.mean) << path_name(path);
    std::printf("%s: %.2e of the largest logit at the worst position, %.2e on average\n", std::string(path_name(path)).c_str(),
                worst, mean);
  }
}

TEST(Double, StoriesInF32AreTheModel) {
  NYB_NEED_DATA();
  const std::string folder = (data_dir() / "stories260K" / "hf").string();
  std::vector<int32_t> ids = expected_ids();
  ASSERT_EQ(ids.size(), 256u);
  ids.insert(ids.end(), ids.begin(), ids.begin() + 144);  // beyond the first segment of attention
  expect_double(*make_model(hf_weights(folder), all(TType::f32)), folder, ids, kStories);
}

class DoubleFamily : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(, DoubleFamily, testing::ValuesIn(family_case_names()), [](const auto& p) { return p.param; });

TEST_P(DoubleFamily, IsTheModel) {
  const std::string folder = family_folder(family_case(GetParam()).config).write("double-" + GetParam()).string();
  std::vector<int32_t> ids(300);
  for (size_t i = 0; i < ids.size(); i++) ids[i] = static_cast<int32_t>((i * i + 5 * i) % 67);
  expect_double(*folder_model(folder, TType::f32), folder, ids, kFamilies);
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
    const EmulationWatch watch(e);
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
