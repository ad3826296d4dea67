// The choice of a path by measurement.
#include "engine/kern_measure.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

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
    EXPECT_TRUE(c.reason.starts_with("measured on products from cache: ")) << c.reason;
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

// Made-up time: only products take any.
double now = 0;
double made_up() { return now; }
size_t calls = 0;

// Tables whose products take what a thousand bytes of q8, or blocks of q4_K, are said to; of several tokens they take nothing.
using Gemv = decltype(KernTable::gemv_q8);
template <int kTime>
void takes(const void*, const float*, const QxGroup*, float*, size_t groups, size_t panels) {
  calls++;
  now += kTime * 1e-6 * static_cast<double>(groups * panels);
}
template <int kTime>
void takes_q4k(const void*, const QxGroup*, float*, size_t groups, size_t panels) {
  takes<kTime>(nullptr, nullptr, nullptr, nullptr, groups, panels);
}
// Long each second time, as when something else has the core.
void takes_turns(const void*, const float*, const QxGroup*, float*, size_t groups, size_t panels) {
  static bool late = false;
  ((late = !late) ? takes<40> : takes<5>)(nullptr, nullptr, nullptr, nullptr, groups, panels);
}
KernTable table(Path path, Gemv gemv, decltype(KernTable::gemv_q4k) gemv_q4k = nullptr) {
  KernTable t = kern_table(Path::ref);
  t.path = path;
  t.gemv_q8 = gemv;
  t.gemv_q4k = gemv_q4k;
  t.gemm_q8 = t.gemm_q4k = [](const GemmArgs*) {};
  return t;
}
constexpr double kEnough = 60;

TEST(KernMeasure, TheFastestIsTaken) {
  const auto m = small(TType::q8);
  const KernTable tables[] = {table(Path::avx2, takes<30>), table(Path::vnni, takes<10>), table(Path::avx512, takes<20>)};
  const KernChoice c = kern_fastest(tables, *m, kEnough, made_up);
  EXPECT_EQ(c.table.path, Path::vnni);
  EXPECT_EQ(c.table.gemv_q8, takes<10>);
  EXPECT_EQ(c.reason, "measured on products from cache: avx2 takes 3.00 times as long, avx512 takes 2.00 times as long");
}

TEST(KernMeasure, TheLeastTimeCounts) {
  const auto m = small(TType::q8);
  const KernTable tables[] = {table(Path::avx2, takes<15>), table(Path::avx512, takes_turns)};
  EXPECT_EQ(kern_fastest(tables, *m, kEnough, made_up).table.path, Path::avx512);
}

TEST(KernMeasure, TheUsualOneStaysWhereAnotherIsHardlyAhead) {
  const auto m = small(TType::q8);
  for (const auto& [gemv, best] : {std::pair<Gemv, Path>{takes<198>, Path::avx2}, {takes<190>, Path::avx512}}) {
    const KernTable tables[] = {table(Path::avx2, takes<200>), table(Path::avx512, gemv)};
    EXPECT_EQ(kern_fastest(tables, *m, kEnough, made_up).table.path, best);
  }
}

// One path takes 10 a group of either type; the other is quicker with q8 and slower with q4_K. Which is ahead hangs on how much
// there is of each, in all matrices: also of the head, and not of an embedding that is only looked up.
TEST(KernMeasure, EachTypeCountsByItsBytes) {
  struct Case {
    TypeOf type;
    bool tied;
    Path best;
  };
  const auto only = [](TType most, std::string_view part, TType there) {
    return [=](const std::string& name) { return name.ends_with(part) ? there : most; };
  };
  const Case cases[] = {
      {all(TType::q8), true, Path::avx512},
      {all(TType::q4k), true, Path::avx2},
      {only(TType::q8, "down", TType::q4k), true, Path::avx512},
      {only(TType::q4k, "down", TType::q8), true, Path::avx2},
      {only(TType::q8, "head", TType::q4k), false, Path::avx2},
      {only(TType::q8, "embed", TType::q4k), true, Path::avx2},
      {only(TType::q8, "embed", TType::q4k), false, Path::avx512},
  };
  // In panels of 256 columns 144 of layers, 32 of them down's, and 192 of the head.
  const ModelShape s{.layers = 1, .dim = 256, .heads = 4, .kv_heads = 2, .head_dim = 64, .ffn = 512, .vocab = 3072, .ctx = 64};
  const KernTable tables[] = {table(Path::avx2, takes<10>, takes_q4k<10>), table(Path::avx512, takes<5>, takes_q4k<20>)};
  for (const Case& c : cases) {
    const auto m = make_model(random_weights(s, c.tied, 9), c.type);
    EXPECT_EQ(kern_fastest(tables, *m, kEnough, made_up).table.path, c.best) << m->type_name;
  }
}

TEST(KernMeasure, KeepsToItsBudget) {
  const auto m = small(TType::q8);
  const KernTable tables[] = {table(Path::avx2, takes<10>), table(Path::avx512, takes<10>)};
  const auto asked = [&](double budget) {
    calls = 0;
    kern_fastest(tables, *m, budget, made_up);
    return calls;
  };
  EXPECT_EQ(asked(0), 2u * 2) << "one round to warm up and one that counts";
  EXPECT_EQ(asked(kEnough), 2u * 41) << "and forty at most";
  const double before = now;
  asked(0);
  const double round = (now - before) / 2;
  EXPECT_EQ(asked(6.5 * round), 2u * 7) << "the round in which the budget ends is the last one";
  EXPECT_LE(kMeasureBudget, 0.010);
}

}  // namespace
}  // namespace nyb
