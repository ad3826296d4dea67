// paths_test.cpp - which paths the engine's tests run here, each by name: one that they must leave out shows as skipped.
#include "paths.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/engine.h"
#include "weights.h"

namespace nyb::test {
namespace {

class Paths : public testing::TestWithParam<Path> {};
INSTANTIATE_TEST_SUITE_P(, Paths, testing::ValuesIn(kAllPaths), [](const auto& p) { return std::string(path_name(p.param)); });

// One token of a model with matrices of each type, so that the path's own instructions run, or their emulation.
TEST_P(Paths, EachCanRunHere) {
  const Path path = GetParam();
  if (const std::string lacks = cannot_run(path); !lacks.empty()) GTEST_SKIP() << "this CPU lacks " << lacks;
  const std::vector<Path>& paths = runnable_paths();
  ASSERT_EQ(std::count(paths.begin(), paths.end(), path), 1) << path_name(path) << " is left out of the engine's tests";
  const ModelShape s{.layers = 1, .dim = 256, .heads = 2, .kv_heads = 1, .head_dim = 128, .ffn = 256, .vocab = 40, .ctx = 8};
  const Weights w = random_weights(s, true, 9);
  Pool pool(1);
  for (const TType type : kMatrixTypes) {
    const auto m = make_model(w, all(type));
    Engine e(*m, kern_table(path), pool);
    const EmulationWatch watch(e);
    std::vector<float> logits(s.vocab);
    const int32_t id = 1;
    eng_step(e, {&id, 1}, 0, logits);
    EXPECT_NE(logits.front(), logits.back()) << ttype_name(type);
  }
}

}  // namespace
}  // namespace nyb::test
