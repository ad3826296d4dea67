// The choice of a path by measurement.
#include "engine/kern_measure.h"

#include <gtest/gtest.h>

#include "engine/weights.h"
#include "kern/cpu.h"

namespace nyb {
namespace {
using namespace test;

std::unique_ptr<Model> small(TType type) {
  const ModelShape s{.layers = 1, .dim = 256, .heads = 4, .kv_heads = 2, .head_dim = 64, .ffn = 512, .vocab = 100, .ctx = 64};
  return make_model(random_weights(s, true, 9), all(type));
}

TEST(KernMeasure, OneOfThoseThatCanRunAndWhy) {
  size_t can = 0;
  for (const Path p : kAllPaths) can += p != Path::ref && cpu_missing(cpu_here(), p).empty();
  for (const TType type : {TType::f32, TType::q8, TType::q4}) {
    const auto m = small(type);
    const KernChoice c = kern_measure(cpu_here(), *m);
    EXPECT_EQ(cpu_missing(cpu_here(), c.table.path), "");
    if (can < 2) {
      EXPECT_EQ(c.reason, kern_pick(cpu_here()).reason);
      continue;
    }
    EXPECT_TRUE(c.reason.starts_with("measured: ")) << c.reason;
    EXPECT_EQ(c.reason.find(std::string(path_name(c.table.path)) + " takes"), std::string::npos) << c.reason;
  }
}

TEST(KernMeasure, NothingToChooseFrom) {
  const auto m = small(TType::q8);
  CpuFeatures none{};
  const KernChoice c = kern_measure(none, *m);
  EXPECT_EQ(c.table.path, Path::ref);
  EXPECT_EQ(c.reason, kern_pick(none).reason);
}

// Two rounds of two passes of 128 KiB are far below it wherever a vector path runs; what is held here is that it ends.
TEST(KernMeasure, KeepsToItsBudget) {
  const auto m = small(TType::q8);
  const auto start = std::chrono::steady_clock::now();
  kern_measure(cpu_here(), *m, std::chrono::microseconds(0));
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), 1.0 * NYB_PATIENCE);
}

}  // namespace
}  // namespace nyb
