// Built for the plain x86-64 baseline: it must run on any CPU.
#include "support/vnni_emu.h"

#include <cpuid.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "support/vnni_patch.h"

// Addresses come as integers from registers and frames here.
// NOLINTBEGIN(performance-no-int-to-ptr)
namespace nyb::test::vnni {
namespace {

std::atomic<uint64_t> counts[NOPS];
struct sigaction old_action;
bool installed;

// Where each part of the state lies in the XSAVE image (standard format: a signal frame is never compacted). CPUID leaf 0xD
// gives them; read before the first signal.
uint32_t avx_off, zmmh_off;

constexpr uint32_t kFpMagic1 = 0x46505853u;  // FP_XSTATE_MAGIC1
constexpr int kSwReserved = 464;             // struct _fpx_sw_bytes in the FXSAVE area
constexpr int kXsaveHeader = 512;            // XSTATE_BV first
constexpr uint64_t kSse = 2, kAvx = 4, kZmmHi256 = 64;

// The order of gregs for the encoding order of the registers.
constexpr int kGreg[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                           REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

// Not one of ours: as if this handler were not there.
void fall_through(int sig, siginfo_t* si, void* uc) {
  if (old_action.sa_flags & SA_SIGINFO) {
    old_action.sa_sigaction(sig, si, uc);
  } else if (old_action.sa_handler != SIG_DFL && old_action.sa_handler != SIG_IGN) {
    old_action.sa_handler(sig);
  } else {
    signal(SIGILL, SIG_DFL);  // the instruction traps again and ends the process
  }
}

// The vector registers of a signal frame.
class Frame {
 public:
  explicit Frame(uint8_t* fp) : fp_(fp) {
    uint32_t magic;
    memcpy(&magic, fp + kSwReserved, 4);
    memcpy(&features_, fp + kSwReserved + 8, 8);
    usable_ = magic == kFpMagic1 && (features_ & kAvx);
    if (!usable_) return;
    memcpy(&bv_, fp + kXsaveHeader, 8);
    // A clear bit means that the component is in its initial state (zero) whatever the bytes say: make them agree.
    if (!(bv_ & kSse)) memset(xmm(0), 0, 256);
    if (!(bv_ & kAvx)) memset(ymmh(0), 0, 256);
  }
  bool usable() const { return usable_; }
  void read(unsigned r, void* out) const {
    memcpy(out, fp_ + 160 + size_t(16) * r, 16);
    memcpy(static_cast<uint8_t*>(out) + 16, fp_ + avx_off + size_t(16) * r, 16);
  }
  void write(unsigned r, const void* in) {  // a VEX write clears all above 256 bits
    memcpy(xmm(r), in, 16);
    memcpy(ymmh(r), static_cast<const uint8_t*>(in) + 16, 16);
    if ((features_ & kZmmHi256) && (bv_ & kZmmHi256)) memset(fp_ + zmmh_off + size_t(32) * r, 0, 32);
    bv_ |= kSse | kAvx;
    memcpy(fp_ + kXsaveHeader, &bv_, 8);
  }

 private:
  uint8_t* xmm(unsigned r) { return fp_ + 160 + size_t(16) * r; }
  uint8_t* ymmh(unsigned r) { return fp_ + avx_off + size_t(16) * r; }
  uint8_t* fp_;
  uint64_t features_ = 0, bv_ = 0;
  bool usable_;
};

void on_sigill(int sig, siginfo_t* si, void* ctx) {
  auto& mc = static_cast<ucontext_t*>(ctx)->uc_mcontext;
  uint64_t gpr[16];
  for (int i = 0; i < 16; i++) gpr[i] = uint64_t(mc.gregs[kGreg[i]]);
  auto at = uint64_t(mc.gregs[REG_RIP]);
  Insn in;
  if (!decode(reinterpret_cast<const uint8_t*>(at), gpr, at, in)) {
    if (patching() && is_patched(at)) return;  // another thread was first: run it again
    return fall_through(sig, si, ctx);
  }
  if (patching() && patch_site(at, in)) return;
  Frame frame(reinterpret_cast<uint8_t*>(mc.fpregs));
  if (!frame.usable()) return fall_through(sig, si, ctx);
  alignas(32) uint8_t s1[32], s2[32];
  alignas(32) int32_t d[8];
  do {  // and the ones right behind it, at the price of one trap
    const int n = in.ymm ? 8 : 4;
    frame.read(unsigned(in.dst), d);
    frame.read(unsigned(in.src1), s1);
    if (in.src2 >= 0) {
      frame.read(unsigned(in.src2), s2);
    } else {
      memcpy(s2, reinterpret_cast<const void*>(in.addr), size_t(n) * 4);  // may fault, as the CPU would
    }
    dot(in.op, d, s1, s2, n);
    if (!in.ymm) memset(d + 4, 0, 16);
    frame.write(unsigned(in.dst), d);
    at += unsigned(in.len);
    mc.gregs[REG_RIP] = greg_t(at);
    counts[in.op].fetch_add(1, std::memory_order_relaxed);
    mark_run(in.op);
  } while (decode(reinterpret_cast<const uint8_t*>(at), gpr, at, in));
}

bool op_of(int key, Op& op) {  // opcode << 4 | pp
  switch (key) {
    case 0x501: op = BUSD; return true;
    case 0x511: op = BUSDS; return true;
    case 0x521: op = WSSD; return true;
    case 0x531: op = WSSDS; return true;
    case 0x503: op = BSSD; return true;
    case 0x513: op = BSSDS; return true;
    case 0x502: op = BSUD; return true;
    case 0x512: op = BSUDS; return true;
    case 0x500: op = BUUD; return true;
    case 0x510: op = BUUDS; return true;
    default: return false;
  }
}

int64_t product(Op op, const uint8_t* a, const uint8_t* b) {  // of the four bytes or two words of one sum
  if (op == WSSD || op == WSSDS) {
    int16_t x[2], y[2];
    memcpy(x, a, 4);
    memcpy(y, b, 4);
    return int64_t(x[0]) * y[0] + int64_t(x[1]) * y[1];
  }
  const bool a_signed = op == BSSD || op == BSSDS || op == BSUD || op == BSUDS;
  const bool b_signed = op == BUSD || op == BUSDS || op == BSSD || op == BSSDS;
  int64_t sum = 0;
  for (int j = 0; j < 4; j++) {
    const int x = a_signed ? int(int8_t(a[j])) : int(a[j]);
    const int y = b_signed ? int(int8_t(b[j])) : int(b[j]);
    sum += int64_t(x) * y;
  }
  return sum;
}

}  // namespace

void dot(Op op, int32_t* d, const void* src1, const void* src2, int n) {
  const auto* a = static_cast<const uint8_t*>(src1);
  const auto* b = static_cast<const uint8_t*>(src2);
  for (int i = 0; i < n; i++) {
    const ptrdiff_t at = ptrdiff_t(4) * i;
    const int64_t t = product(op, a + at, b + at);
    switch (op) {
      case BUSDS:
      case WSSDS:
      case BSSDS:
      case BSUDS: d[i] = int32_t(std::clamp<int64_t>(d[i] + t, INT32_MIN, INT32_MAX)); break;
      case BUUDS: d[i] = int32_t(uint32_t(std::min<uint64_t>(uint64_t(uint32_t(d[i])) + uint64_t(t), UINT32_MAX))); break;
      default: d[i] = int32_t(uint32_t(d[i]) + uint32_t(t)); break;  // wraps
    }
  }
}

bool decode(const uint8_t* p, const uint64_t gpr[16], uint64_t rip, Insn& o) {
  if (p[0] != 0xC4 || (p[1] & 0x1F) != 2 || (p[2] & 0x80)) return false;  // VEX of three bytes, map 0F38, W0
  if (!op_of(p[3] << 4 | (p[2] & 3), o.op)) return false;
  const int r = (~p[1] >> 4) & 8, x = (~p[1] >> 3) & 8, b = (~p[1] >> 2) & 8;
  o.ymm = p[2] & 4;
  o.src1 = (~p[2] >> 3) & 15;
  const int mod = p[4] >> 6, rm = p[4] & 7;
  o.dst = r | ((p[4] >> 3) & 7);
  o.addr = 0;
  o.len = 5;
  if (mod == 3) {
    o.src2 = b | rm;
    return true;
  }
  o.src2 = -1;
  int disp_size = mod == 1 ? 1 : mod == 2 ? 4 : 0;
  bool rip_relative = false;
  if (rm == 4) {
    const int sib = p[o.len++], base = sib & 7, index = x | ((sib >> 3) & 7);
    if (base == 5 && mod == 0) {
      disp_size = 4;  // no base
    } else {
      o.addr += gpr[b | base];
    }
    if (index != 4) o.addr += gpr[index] << (sib >> 6);
  } else if (rm == 5 && mod == 0) {
    rip_relative = true;
    disp_size = 4;
  } else {
    o.addr += gpr[b | rm];
  }
  if (disp_size == 1) {
    o.addr += uint64_t(int64_t(int8_t(p[o.len])));
  } else if (disp_size == 4) {
    int32_t disp;
    memcpy(&disp, p + o.len, 4);
    o.addr += uint64_t(int64_t(disp));
  }
  o.len += disp_size;
  if (rip_relative) o.addr += rip + unsigned(o.len);
  return true;
}

void use_alt_stack() {
  stack_t ss{};
  if (!sigaltstack(nullptr, &ss) && !(ss.ss_flags & SS_DISABLE) && ss.ss_size >= 65536) return;
  // An AVX-512 frame is about 3.5 KiB, one with AMX tiles about 11 KiB; sanitizers want more.
  constexpr size_t size = 262144;
  void* p = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (p == MAP_FAILED) abort();
  ss = {};
  ss.ss_sp = p;
  ss.ss_size = size;
  if (sigaltstack(&ss, nullptr)) abort();
}

bool install() {
  if (installed) return true;
  unsigned a, b, c, d;
  if (!__get_cpuid_count(1, 0, &a, &b, &c, &d) || !(c & bit_OSXSAVE) || !(c & bit_AVX)) return false;
  if (!__get_cpuid_count(0xD, 2, &a, &b, &c, &d) || a != 256) return false;
  avx_off = b;
  if (__get_cpuid_count(0xD, 6, &a, &b, &c, &d) && a == 512) zmmh_off = b;
  use_alt_stack();
  struct sigaction sa {};
  sa.sa_sigaction = on_sigill;
  sa.sa_flags = SA_SIGINFO | SA_ONSTACK;
  if (sigaction(SIGILL, &sa, &old_action)) return false;
  installed = true;
  return true;
}

void uninstall() {
  if (installed) sigaction(SIGILL, &old_action, nullptr);
  installed = false;
}

uint64_t count(Op op) { return counts[op].load(std::memory_order_relaxed); }
uint64_t count() {
  uint64_t n = 0;
  for (auto& c : counts) n += c.load(std::memory_order_relaxed);
  return n;
}

}  // namespace nyb::test::vnni
// NOLINTEND(performance-no-int-to-ptr)
