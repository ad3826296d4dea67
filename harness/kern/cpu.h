// cpu.h - what the CPU and the operating system let us use: a pure function of CPUID and XCR0 words.
#pragma once
#include <cstdint>
#include <string>
#include "kern/kern.h"

namespace nyb {

// The raw words; made-up ones are as good as real ones.
struct CpuWords {
  uint32_t max_leaf = 0;
  uint32_t leaf1_ecx = 0, leaf1_edx = 0;
  uint32_t leaf7_max_sub = 0, leaf7_ebx = 0, leaf7_ecx = 0, leaf7_edx = 0;
  uint32_t leaf71_eax = 0, leaf71_edx = 0;  // leaf 7, subleaf 1
  uint64_t xcr0 = 0;                        // only read where OSXSAVE is set
};
CpuWords cpu_words();  // of this machine

struct CpuFeatures {
  bool avx2 = false, fma = false, f16c = false, avx = false;
  bool avx_vnni = false, avx_vnni_int8 = false;
  bool avx512f = false, avx512bw = false, avx512vl = false, avx512dq = false, avx512vnni = false;
  bool os_ymm = false, os_zmm = false;  // XCR0 says that the system saves these registers
  bool clflushopt = false;              // no path needs it
};
CpuFeatures cpu_detect(const CpuWords& w);
const CpuFeatures& cpu_here();  // of this machine, detected once

// What a path needs and this CPU lacks, by name ("AVX512_VNNI, XCR0.ZMM"); empty: it can run.
std::string cpu_missing(const CpuFeatures& cpu, Path p);

}  // namespace nyb
