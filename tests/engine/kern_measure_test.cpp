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

// Tables whose products of one token take what is asked for, and of several nothing.
using Gemv = decltype(KernTable::gemv_q8);
size_t calls = 0;
void wait(std::chrono::microseconds t) {
  calls++;
  const auto end = std::chrono::steady_clock::now() + t;
  while (std::chrono::steady_clock::now() < end) {}
}
template <int kMicroseconds>
void takes(const void*, const float*, const QxGroup*, float*, size_t, size_t) {
  wait(std::chrono::microseconds(kMicroseconds));
}
// Long each second time, as when something else has the core.
void takes_turns(const void*, const float*, const QxGroup*, float*, size_t, size_t) {
  static bool late = false;
  wait(std::chrono::microseconds((late = !late) ? 4000 : 500));
}
KernTable table(Path path, Gemv gemv) {
  KernTable t = kern_table(Path::ref);
  t.path = path;
  t.gemv_q8 = gemv;
  t.gemm_q8 = [](const GemmArgs*) {};
  return t;
}
constexpr std::chrono::seconds kEnough{60};

TEST(KernMeasure, TheFastestIsTaken) {
  const auto m = small(TType::q8);
  const KernTable tables[] = {table(Path::avx2, takes<3000>), table(Path::vnni, takes<1000>), table(Path::avx512, takes<2000>)};
  const KernChoice c = kern_fastest(tables, *m, kEnough);
  EXPECT_EQ(c.table.path, Path::vnni);
  EXPECT_TRUE(c.reason.starts_with("measured: avx2 takes ")) << c.reason;
  EXPECT_NE(c.reason.find(" times as long, avx512 takes "), std::string::npos) << c.reason;
}

TEST(KernMeasure, TheLeastTimeCounts) {
  const auto m = small(TType::q8);
  const KernTable tables[] = {table(Path::avx2, takes<1500>), table(Path::avx512, takes_turns)};
  EXPECT_EQ(kern_fastest(tables, *m, kEnough).table.path, Path::avx512);
}

TEST(KernMeasure, TheUsualOneStaysWhereAnotherIsHardlyAhead) {
  const auto m = small(TType::q8);
  const KernTable tables[] = {table(Path::avx2, takes<2000>), table(Path::avx512, takes<1980>)};
  EXPECT_EQ(kern_fastest(tables, *m, kEnough).table.path, Path::avx2);
}

TEST(KernMeasure, KeepsToItsBudget) {
  const auto m = small(TType::q8);
  const KernTable tables[] = {table(Path::avx2, takes<100>), table(Path::avx512, takes<100>)};
  calls = 0;
  kern_fastest(tables, *m, std::chrono::microseconds(0));
  EXPECT_EQ(calls, 2u * 2) << "one pass to warm up and one round";
  calls = 0;
  kern_fastest(tables, *m, kEnough);
  EXPECT_EQ(calls, 2u * 10) << "and nine rounds at most";
}

}  // namespace
}  // namespace nyb
