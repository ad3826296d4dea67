// cpus.h - made-up CPUs for the tests of detection and choice: the words that CPUID and XGETBV would give.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "kern/cpu.h"

namespace nyb::test {

CpuWords nehalem();        // SSE4.2, leaf 0x0b, no AVX, no OSXSAVE
CpuWords sandy_bridge();   // AVX without AVX2
CpuWords haswell();        // AVX2, FMA, F16C
CpuWords skylake_x();      // AVX-512 without VNNI
CpuWords zen4();           // AVX-512 with VNNI, no AVX-VNNI
CpuWords alder_lake();     // AVX-VNNI, no AVX-512
CpuWords sierra_forest();  // AVX-VNNI-INT8, no AVX-512
CpuWords everything();     // all paths at once

// One thing that a path needs: its name in messages, and how to take it away from the words.
struct Need {
  std::string_view name;
  void (*remove)(CpuWords&);
  std::vector<Path> paths;  // those that need it
};
const std::vector<Need>& needs();

// The names of the paths that can run, best known order: "ref avx2 vnni".
std::string can_run(const CpuWords& w);

}  // namespace nyb::test
