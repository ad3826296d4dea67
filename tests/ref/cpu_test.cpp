// cpu_test.cpp - which paths a CPU can run, decided from made-up words.
#include <gtest/gtest.h>

#include <algorithm>

#include "ref/cpus.h"

namespace nyb::test {
namespace {

std::string missing(const CpuWords& w, Path p) { return cpu_missing(cpu_detect(w), p); }

TEST(CpuDetect, KnownCpus) {
  EXPECT_EQ(can_run(CpuWords{}), "ref");
  EXPECT_EQ(can_run(nehalem()), "ref");
  EXPECT_EQ(can_run(sandy_bridge()), "ref");
  EXPECT_EQ(can_run(haswell()), "ref avx2");
  EXPECT_EQ(can_run(skylake_x()), "ref avx2");
  EXPECT_EQ(can_run(zen4()), "ref avx2 avx512");
  EXPECT_EQ(can_run(alder_lake()), "ref avx2 vnni");
  EXPECT_EQ(can_run(sierra_forest()), "ref avx2 vnni vnni8");
  EXPECT_EQ(can_run(everything()), "ref avx2 vnni vnni8 avx512");
}

TEST(CpuDetect, NamesWhatIsMissing) {
  EXPECT_EQ(missing(nehalem(), Path::ref), "");
  EXPECT_EQ(missing(nehalem(), Path::avx2), "AVX, AVX2, FMA, F16C, XCR0.YMM");
  EXPECT_EQ(missing(sandy_bridge(), Path::avx2), "AVX2, FMA, F16C");
  EXPECT_EQ(missing(haswell(), Path::vnni), "AVX_VNNI");
  EXPECT_EQ(missing(haswell(), Path::vnni8), "AVX_VNNI, AVX_VNNI_INT8");
  EXPECT_EQ(missing(haswell(), Path::avx512), "AVX512F, AVX512BW, AVX512VL, AVX512DQ, AVX512_VNNI, XCR0.ZMM");
  EXPECT_EQ(missing(skylake_x(), Path::avx512), "AVX512_VNNI");
  EXPECT_EQ(missing(zen4(), Path::vnni), "AVX_VNNI");
  EXPECT_EQ(missing(alder_lake(), Path::vnni8), "AVX_VNNI_INT8");
}

// Each bit that any path needs, taken away alone: it is named by exactly the paths that need it.
TEST(CpuDetect, EachBitCounts) {
  for (const Need& need : needs()) {
    CpuWords w = everything();
    need.remove(w);
    for (const Path p : kAllPaths) {
      const bool needed = std::find(need.paths.begin(), need.paths.end(), p) != need.paths.end();
      EXPECT_EQ(missing(w, p), needed ? need.name : "") << need.name << " and " << path_name(p);
    }
  }
}

// A system that does not save the upper halves: AVX says the CPU, no says XCR0. Without ymm there is no zmm either.
TEST(CpuDetect, XcrWithoutYmm) {
  for (const uint64_t keep : {~uint64_t{4}, ~uint64_t{2}, ~uint64_t{6}}) {
    CpuWords w = everything();
    w.xcr0 &= keep;
    EXPECT_EQ(can_run(w), "ref");
    EXPECT_EQ(missing(w, Path::avx2), "XCR0.YMM");
    EXPECT_EQ(missing(w, Path::avx512), "XCR0.YMM, XCR0.ZMM");
  }
}

TEST(CpuDetect, ZmmNotSaved) {
  CpuWords w = everything();
  w.xcr0 = 7;
  EXPECT_EQ(can_run(w), "ref avx2 vnni vnni8");
  EXPECT_EQ(missing(w, Path::avx512), "XCR0.ZMM");
}

// Without OSXSAVE, XGETBV faults and XCR0 means nothing, whatever the word holds.
TEST(CpuDetect, NoOsxsave) {
  CpuWords w = everything();
  w.leaf1_ecx &= ~(1u << 27);
  EXPECT_EQ(can_run(w), "ref");
  EXPECT_EQ(missing(w, Path::avx2), "XCR0.YMM");
}

// Words of leaves past the greatest one are noise.
TEST(CpuDetect, LeavesThatDoNotExist) {
  CpuWords w = everything();
  w.max_leaf = 6;
  EXPECT_EQ(can_run(w), "ref");
  EXPECT_EQ(missing(w, Path::vnni8), "AVX2, AVX_VNNI, AVX_VNNI_INT8");
  w.max_leaf = 0;
  EXPECT_EQ(missing(w, Path::avx2), "AVX, AVX2, FMA, F16C, XCR0.YMM");
  w = everything();
  w.leaf7_max_sub = 0;
  EXPECT_EQ(can_run(w), "ref avx2 avx512");
}

// All bits of all words set, except those of a need, still leaves that need unmet: no other bit stands in for it.
TEST(CpuDetect, NoOtherBitStandsIn) {
  CpuWords full;
  full.max_leaf = 0x20;
  full.leaf1_ecx = full.leaf1_edx = full.leaf7_ebx = full.leaf7_ecx = full.leaf7_edx = full.leaf71_eax = full.leaf71_edx = ~0u;
  full.leaf7_max_sub = 2;
  full.xcr0 = ~uint64_t{0};
  EXPECT_EQ(can_run(full), "ref avx2 vnni vnni8 avx512");
  for (const Need& need : needs()) {
    CpuWords w = full;
    need.remove(w);
    for (const Path p : need.paths) EXPECT_EQ(missing(w, p), need.name) << path_name(p);
  }
}

TEST(CpuDetect, ThisMachine) {
  const CpuWords w = cpu_words();
  EXPECT_GE(w.max_leaf, 1u);
  EXPECT_NE(w.leaf1_edx & (1u << 26), 0u) << "every x86-64 has SSE2";
  const CpuFeatures again = cpu_detect(w);
  for (const Path p : kAllPaths) EXPECT_EQ(cpu_missing(again, p), cpu_missing(cpu_here(), p));
  if (cpu_here().os_zmm) { EXPECT_TRUE(cpu_here().os_ymm); }
}

// No path needs it, so it is in none of the tables above.
TEST(CpuDetect, Clflushopt) {
  CpuWords w = everything();
  w.leaf7_ebx = 1u << 23;
  EXPECT_TRUE(cpu_detect(w).clflushopt);
  w.leaf7_ebx = ~w.leaf7_ebx;
  EXPECT_FALSE(cpu_detect(w).clflushopt);
  w = haswell();
  w.max_leaf = 1;
  w.leaf7_ebx = ~0u;
  EXPECT_FALSE(cpu_detect(w).clflushopt) << "there is no leaf 7";
}

// The compiler's runtime asks the same questions in its own way.
TEST(CpuDetect, AgreesWithTheCompilersRuntime) {
  __builtin_cpu_init();
  const CpuFeatures& f = cpu_here();
  EXPECT_EQ(f.avx2 && f.avx && f.os_ymm, __builtin_cpu_supports("avx2") != 0);
  EXPECT_EQ(f.fma && f.avx && f.os_ymm, __builtin_cpu_supports("fma") != 0);
  EXPECT_EQ(f.avx512f && f.avx && f.os_zmm, __builtin_cpu_supports("avx512f") != 0);
  EXPECT_EQ(f.avx512vnni && f.avx && f.os_zmm, __builtin_cpu_supports("avx512vnni") != 0);
}

}  // namespace
}  // namespace nyb::test
