// kern_pick_test.cpp - the choice of a path, its reason, and what is said when it cannot be had.
#include <gtest/gtest.h>

#include <algorithm>

#include "kern/error.h"
#include "ref/cpus.h"

namespace nyb::test {
namespace {

KernChoice pick(const CpuWords& w, std::string_view asked = {}, const char* env = nullptr) {
  return kern_pick(cpu_detect(w), asked, env);
}

std::string refused(const CpuWords& w, std::string_view asked, const char* env = nullptr) {
  try {
    pick(w, asked, env);
  } catch (const Error& e) { return e.what(); }
  return "nothing was refused";
}

TEST(KernPick, TheBestThatTheCpuHas) {
  EXPECT_EQ(pick(haswell()).table.path, Path::avx2);
  EXPECT_EQ(pick(zen4()).table.path, Path::avx512);
  EXPECT_EQ(pick(alder_lake()).table.path, Path::vnni);
  EXPECT_EQ(pick(sierra_forest()).table.path, Path::vnni8);
  EXPECT_EQ(pick(everything()).table.path, Path::avx512);
  EXPECT_EQ(pick(haswell()).reason, "the only vector path that this CPU has");
  EXPECT_EQ(pick(zen4()).reason, "best of avx2, avx512");
  EXPECT_EQ(pick(everything()).reason, "best of avx2, vnni, vnni8, avx512");
}

TEST(KernPick, WithoutAvx2TheReference) {
  EXPECT_EQ(pick(nehalem()).table.path, Path::ref);
  EXPECT_EQ(pick(nehalem()).reason, "the slow scalar path: this CPU lacks AVX, AVX2, FMA, F16C, XCR0.YMM");
  EXPECT_EQ(pick(sandy_bridge()).reason, "the slow scalar path: this CPU lacks AVX2, FMA, F16C");
}

TEST(KernPick, EveryPathCanBeAskedFor) {
  for (const Path p : kAllPaths) {
    const std::string name(path_name(p));
    EXPECT_EQ(pick(everything(), name).table.path, p);
    EXPECT_EQ(pick(everything(), name).reason, "asked for by --kernel");
    EXPECT_EQ(pick(everything(), {}, name.c_str()).table.path, p);
    EXPECT_EQ(pick(everything(), {}, name.c_str()).reason, "asked for by NYBBLE_KERNEL");
    EXPECT_EQ(pick(everything(), name).table.gemv_q8, kern_table(p).gemv_q8);
  }
}

TEST(KernPick, TheOptionGoesBeforeTheEnvironment) {
  EXPECT_EQ(pick(everything(), "avx2", "vnni").table.path, Path::avx2);
  EXPECT_EQ(pick(everything(), "ref", "nonsense").reason, "asked for by --kernel");
  EXPECT_EQ(pick(everything(), "", "").table.path, Path::avx512) << "an empty variable asks for nothing";
}

TEST(KernPick, AnUnknownNameListsTheValidOnes) {
  EXPECT_EQ(refused(everything(), "sse9"),
            "there is no kernel path \"sse9\", asked for by --kernel; use one of ref, avx2, vnni, vnni8, avx512");
  EXPECT_EQ(refused(nehalem(), {}, "AVX2"),
            "there is no kernel path \"AVX2\", asked for by NYBBLE_KERNEL; use one of ref, avx2, vnni, vnni8, avx512");
}

TEST(KernPick, APathThatTheCpuLacksNamesTheBits) {
  EXPECT_EQ(refused(skylake_x(), "avx512"),
            "the kernel path avx512, asked for by --kernel, cannot run on this CPU, which lacks AVX512_VNNI; "
            "without --kernel the best path that can run is taken");
  EXPECT_EQ(refused(haswell(), {}, "vnni8"),
            "the kernel path vnni8, asked for by NYBBLE_KERNEL, cannot run on this CPU, which lacks AVX_VNNI, AVX_VNNI_INT8; "
            "without NYBBLE_KERNEL the best path that can run is taken");
}

// One bit less, and the choice falls to the best path that does not need it.
TEST(KernPick, EachBitCounts) {
  for (const Need& need : needs()) {
    CpuWords w = everything();
    need.remove(w);
    Path want = Path::ref;
    for (const Path p : {Path::avx2, Path::vnni, Path::vnni8, Path::avx512})
      if (std::find(need.paths.begin(), need.paths.end(), p) == need.paths.end()) want = p;
    EXPECT_EQ(pick(w).table.path, want) << need.name;
    for (const Path p : need.paths)
      EXPECT_NE(refused(w, path_name(p)).find("lacks " + std::string(need.name) + ";"), std::string::npos) << need.name;
  }
}

}  // namespace
}  // namespace nyb::test
