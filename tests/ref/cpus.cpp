#include "ref/cpus.h"

namespace nyb::test {
namespace {

constexpr uint32_t bit(unsigned n) { return 1u << n; }

constexpr uint32_t fma = bit(12), osxsave = bit(27), avx = bit(28), f16c = bit(29);                // leaf 1, ecx
constexpr uint32_t sse42 = bit(0) | bit(9) | bit(19) | bit(20) | bit(23);                          // leaf 1, ecx
constexpr uint32_t avx2 = bit(5);                                                                  // leaf 7, ebx
constexpr uint32_t avx512f = bit(16), avx512dq = bit(17), avx512bw = bit(30), avx512vl = bit(31);  // leaf 7, ebx
constexpr uint32_t avx512vnni = bit(11);                                                           // leaf 7, ecx
constexpr uint32_t avx_vnni = bit(4);                                                              // leaf 7.1, eax
constexpr uint32_t avx_vnni_int8 = bit(4);                                                         // leaf 7.1, edx
constexpr uint64_t x87_sse = 3, ymm = 4, zmm = 0xe0;                                               // xcr0

const std::vector<Path> all_vector = {Path::avx2, Path::vnni, Path::vnni8, Path::avx512};

}  // namespace

CpuWords nehalem() {
  CpuWords w;
  w.max_leaf = 0x0b;
  w.leaf1_ecx = sse42;
  return w;
}

CpuWords sandy_bridge() {
  CpuWords w = nehalem();
  w.max_leaf = 0x0d;
  w.leaf1_ecx |= avx | osxsave;
  w.xcr0 = x87_sse | ymm;
  return w;
}

CpuWords haswell() {
  CpuWords w = sandy_bridge();
  w.leaf1_ecx |= fma | f16c;
  w.leaf7_ebx = avx2;
  return w;
}

CpuWords skylake_x() {
  CpuWords w = haswell();
  w.max_leaf = 0x16;
  w.leaf7_ebx |= avx512f | avx512dq | avx512bw | avx512vl;
  w.xcr0 |= zmm;
  return w;
}

CpuWords zen4() {
  CpuWords w = skylake_x();
  w.max_leaf = 0x10;
  w.leaf7_max_sub = 1;
  w.leaf7_ecx = avx512vnni;
  w.leaf71_eax = bit(5);  // AVX512_BF16
  return w;
}

CpuWords alder_lake() {
  CpuWords w = haswell();
  w.max_leaf = 0x20;
  w.leaf7_max_sub = 2;
  w.leaf71_eax = avx_vnni;
  return w;
}

CpuWords sierra_forest() {
  CpuWords w = alder_lake();
  w.leaf71_edx = avx_vnni_int8;
  return w;
}

CpuWords everything() {
  CpuWords w = zen4();
  w.leaf71_eax |= avx_vnni;
  w.leaf71_edx |= avx_vnni_int8;
  return w;
}

const std::vector<Need>& needs() {
  static const std::vector<Need> all = {
      {"AVX", [](CpuWords& w) { w.leaf1_ecx &= ~avx; }, all_vector},
      {"AVX2", [](CpuWords& w) { w.leaf7_ebx &= ~avx2; }, all_vector},
      {"FMA", [](CpuWords& w) { w.leaf1_ecx &= ~fma; }, all_vector},
      {"F16C", [](CpuWords& w) { w.leaf1_ecx &= ~f16c; }, all_vector},
      {"AVX_VNNI", [](CpuWords& w) { w.leaf71_eax &= ~avx_vnni; }, {Path::vnni, Path::vnni8}},
      {"AVX_VNNI_INT8", [](CpuWords& w) { w.leaf71_edx &= ~avx_vnni_int8; }, {Path::vnni8}},
      {"AVX512F", [](CpuWords& w) { w.leaf7_ebx &= ~avx512f; }, {Path::avx512}},
      {"AVX512BW", [](CpuWords& w) { w.leaf7_ebx &= ~avx512bw; }, {Path::avx512}},
      {"AVX512VL", [](CpuWords& w) { w.leaf7_ebx &= ~avx512vl; }, {Path::avx512}},
      {"AVX512DQ", [](CpuWords& w) { w.leaf7_ebx &= ~avx512dq; }, {Path::avx512}},
      {"AVX512_VNNI", [](CpuWords& w) { w.leaf7_ecx &= ~avx512vnni; }, {Path::avx512}},
      {"XCR0.ZMM", [](CpuWords& w) { w.xcr0 &= ~uint64_t{0x20}; }, {Path::avx512}},
      {"XCR0.ZMM", [](CpuWords& w) { w.xcr0 &= ~uint64_t{0x40}; }, {Path::avx512}},
      {"XCR0.ZMM", [](CpuWords& w) { w.xcr0 &= ~uint64_t{0x80}; }, {Path::avx512}},
  };
  return all;
}

std::string can_run(const CpuWords& w) {
  const CpuFeatures f = cpu_detect(w);
  std::string out;
  for (const Path p : all_paths) {
    if (!cpu_missing(f, p).empty()) continue;
    if (!out.empty()) out += ' ';
    out += path_name(p);
  }
  return out;
}

}  // namespace nyb::test
