#include "ref/cpus.h"

namespace nyb::test {
namespace {

constexpr uint32_t bit(unsigned n) { return 1u << n; }

constexpr uint32_t kFma = bit(12), kOsxsave = bit(27), kAvx = bit(28), kF16c = bit(29);                // leaf 1, ecx
constexpr uint32_t kSse42 = bit(0) | bit(9) | bit(19) | bit(20) | bit(23);                             // leaf 1, ecx
constexpr uint32_t kAvx2 = bit(5);                                                                     // leaf 7, ebx
constexpr uint32_t kAvx512f = bit(16), kAvx512dq = bit(17), kAvx512bw = bit(30), kAvx512vl = bit(31);  // leaf 7, ebx
constexpr uint32_t kAvx512vnni = bit(11);                                                              // leaf 7, ecx
constexpr uint32_t kAvxVnni = bit(4);                                                                  // leaf 7.1, eax
constexpr uint32_t kAvxVnniInt8 = bit(4);                                                              // leaf 7.1, edx
constexpr uint64_t kX87Sse = 3, kYmm = 4, kZmm = 0xe0;                                                 // xcr0

const std::vector<Path> kAllVector = {Path::avx2, Path::vnni, Path::vnni8, Path::avx512};

}  // namespace

CpuWords nehalem() {
  CpuWords w;
  w.max_leaf = 0x0b;
  w.leaf1_ecx = kSse42;
  return w;
}

CpuWords sandy_bridge() {
  CpuWords w = nehalem();
  w.max_leaf = 0x0d;
  w.leaf1_ecx |= kAvx | kOsxsave;
  w.xcr0 = kX87Sse | kYmm;
  return w;
}

CpuWords haswell() {
  CpuWords w = sandy_bridge();
  w.leaf1_ecx |= kFma | kF16c;
  w.leaf7_ebx = kAvx2;
  return w;
}

CpuWords skylake_x() {
  CpuWords w = haswell();
  w.max_leaf = 0x16;
  w.leaf7_ebx |= kAvx512f | kAvx512dq | kAvx512bw | kAvx512vl;
  w.xcr0 |= kZmm;
  return w;
}

CpuWords zen4() {
  CpuWords w = skylake_x();
  w.max_leaf = 0x10;
  w.leaf7_max_sub = 1;
  w.leaf7_ecx = kAvx512vnni;
  w.leaf71_eax = bit(5);  // AVX512_BF16
  return w;
}

CpuWords alder_lake() {
  CpuWords w = haswell();
  w.max_leaf = 0x20;
  w.leaf7_max_sub = 2;
  w.leaf71_eax = kAvxVnni;
  return w;
}

CpuWords sierra_forest() {
  CpuWords w = alder_lake();
  w.leaf71_edx = kAvxVnniInt8;
  return w;
}

CpuWords everything() {
  CpuWords w = zen4();
  w.leaf71_eax |= kAvxVnni;
  w.leaf71_edx |= kAvxVnniInt8;
  return w;
}

const std::vector<Need>& needs() {
  static const std::vector<Need> all = {
      {"AVX", [](CpuWords& w) { w.leaf1_ecx &= ~kAvx; }, kAllVector},
      {"AVX2", [](CpuWords& w) { w.leaf7_ebx &= ~kAvx2; }, kAllVector},
      {"FMA", [](CpuWords& w) { w.leaf1_ecx &= ~kFma; }, kAllVector},
      {"F16C", [](CpuWords& w) { w.leaf1_ecx &= ~kF16c; }, kAllVector},
      {"AVX_VNNI", [](CpuWords& w) { w.leaf71_eax &= ~kAvxVnni; }, {Path::vnni, Path::vnni8}},
      {"AVX_VNNI_INT8", [](CpuWords& w) { w.leaf71_edx &= ~kAvxVnniInt8; }, {Path::vnni8}},
      {"AVX512F", [](CpuWords& w) { w.leaf7_ebx &= ~kAvx512f; }, {Path::avx512}},
      {"AVX512BW", [](CpuWords& w) { w.leaf7_ebx &= ~kAvx512bw; }, {Path::avx512}},
      {"AVX512VL", [](CpuWords& w) { w.leaf7_ebx &= ~kAvx512vl; }, {Path::avx512}},
      {"AVX512DQ", [](CpuWords& w) { w.leaf7_ebx &= ~kAvx512dq; }, {Path::avx512}},
      {"AVX512_VNNI", [](CpuWords& w) { w.leaf7_ecx &= ~kAvx512vnni; }, {Path::avx512}},
      {"XCR0.ZMM", [](CpuWords& w) { w.xcr0 &= ~uint64_t{0x20}; }, {Path::avx512}},
      {"XCR0.ZMM", [](CpuWords& w) { w.xcr0 &= ~uint64_t{0x40}; }, {Path::avx512}},
      {"XCR0.ZMM", [](CpuWords& w) { w.xcr0 &= ~uint64_t{0x80}; }, {Path::avx512}},
  };
  return all;
}

std::string can_run(const CpuWords& w) {
  const CpuFeatures f = cpu_detect(w);
  std::string out;
  for (const Path p : kAllPaths) {
    if (!cpu_missing(f, p).empty()) continue;
    if (!out.empty()) out += ' ';
    out += path_name(p);
  }
  return out;
}

}  // namespace nyb::test
