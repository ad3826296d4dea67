// cpu.cpp - reads the CPUID words, and says from them alone what may be used and what each path lacks.
#include "kern/cpu.h"

#include <cpuid.h>

namespace nyb {
namespace {

constexpr bool bit(uint32_t word, unsigned n) { return (word >> n) & 1u; }

constexpr unsigned kOsxsaveBit = 27;  // of leaf 1, ecx: XGETBV exists and the system has set XCR0

// XCR0: what the system saves on a task switch. Bits 1 and 2 are xmm and the upper halves of ymm; 5, 6 and 7 the opmasks,
// the upper halves of zmm0-15, and zmm16-31.
constexpr uint64_t kXcr0Ymm = 0x06;
constexpr uint64_t kXcr0Zmm = 0xe6;

uint64_t read_xcr0() {
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (static_cast<uint64_t>(high) << 32) | low;
}

}  // namespace

CpuWords cpu_words() {
  CpuWords w;
  uint32_t a, b, c, d;
  __cpuid(0, a, b, c, d);
  w.max_leaf = a;
  if (w.max_leaf >= 1) {
    __cpuid(1, a, b, c, d);
    w.leaf1_ecx = c;
    w.leaf1_edx = d;
  }
  // A leaf past the last one returns the last one's words on some CPUs, so it is not asked for.
  if (w.max_leaf >= 7) {
    __cpuid_count(7, 0, a, b, c, d);
    w.leaf7_max_sub = a;
    w.leaf7_ebx = b;
    w.leaf7_ecx = c;
    w.leaf7_edx = d;
    if (w.leaf7_max_sub >= 1) {
      __cpuid_count(7, 1, a, b, c, d);
      w.leaf71_eax = a;
      w.leaf71_edx = d;
    }
  }
  if (bit(w.leaf1_ecx, kOsxsaveBit)) w.xcr0 = read_xcr0();
  return w;
}

CpuFeatures cpu_detect(const CpuWords& w) {
  CpuFeatures f;
  if (w.max_leaf >= 1) {
    f.fma = bit(w.leaf1_ecx, 12);
    f.avx = bit(w.leaf1_ecx, 28);
    f.f16c = bit(w.leaf1_ecx, 29);
    if (bit(w.leaf1_ecx, kOsxsaveBit)) {
      f.os_ymm = (w.xcr0 & kXcr0Ymm) == kXcr0Ymm;
      f.os_zmm = (w.xcr0 & kXcr0Zmm) == kXcr0Zmm;
    }
  }
  if (w.max_leaf >= 7) {
    f.avx2 = bit(w.leaf7_ebx, 5);
    f.avx512f = bit(w.leaf7_ebx, 16);
    f.avx512dq = bit(w.leaf7_ebx, 17);
    f.clflushopt = bit(w.leaf7_ebx, 23);
    f.avx512bw = bit(w.leaf7_ebx, 30);
    f.avx512vl = bit(w.leaf7_ebx, 31);
    f.avx512vnni = bit(w.leaf7_ecx, 11);
    if (w.leaf7_max_sub >= 1) {
      f.avx_vnni = bit(w.leaf71_eax, 4);
      f.avx_vnni_int8 = bit(w.leaf71_edx, 4);
    }
  }
  return f;
}

const CpuFeatures& cpu_here() {
  static const CpuFeatures here = cpu_detect(cpu_words());
  return here;
}

std::string cpu_missing(const CpuFeatures& cpu, Path p) {
  std::string missing;
  const auto need = [&missing](bool has, std::string_view name) {
    if (has) return;
    if (!missing.empty()) missing += ", ";
    missing += name;
  };
  if (p == Path::ref) return missing;
  need(cpu.avx, "AVX");
  need(cpu.avx2, "AVX2");
  need(cpu.fma, "FMA");
  need(cpu.f16c, "F16C");
  need(cpu.os_ymm, "XCR0.YMM");
  if (p == Path::vnni || p == Path::vnni8) need(cpu.avx_vnni, "AVX_VNNI");
  if (p == Path::vnni8) need(cpu.avx_vnni_int8, "AVX_VNNI_INT8");
  if (p == Path::avx512) {
    need(cpu.avx512f, "AVX512F");
    need(cpu.avx512bw, "AVX512BW");
    need(cpu.avx512vl, "AVX512VL");
    need(cpu.avx512dq, "AVX512DQ");
    need(cpu.avx512vnni, "AVX512_VNNI");
    need(cpu.os_zmm, "XCR0.ZMM");
  }
  return missing;
}

}  // namespace nyb
