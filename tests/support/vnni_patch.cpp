// Self-modifying code, for tests only; built for the plain x86-64 baseline.
#include "support/vnni_patch.h"

#include <cpuid.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstring>

// Addresses come as integers from registers and frames here.
// NOLINTBEGIN(performance-no-int-to-ptr)
namespace nyb::test::vnni {
namespace {

constexpr size_t kPool = 1 << 20, kMaxSites = 32768, kSlots = 2 * kMaxSites, kStubMax = 256;
struct Pool {
  uint8_t* base;
  size_t used;
};
Pool pools[8];
int npools;
std::atomic<uint64_t> table[kSlots];  // open addressing: the address of each patched site
std::atomic<size_t> nsites;
std::atomic_flag lock = ATOMIC_FLAG_INIT;
std::atomic<bool> on;
bool have512, have_membarrier;
std::atomic<uint8_t> marks[NOPS];  // not 0: such an instruction ran

size_t slot_of(uint64_t rip) { return size_t((rip * 0x9E3779B97F4A7C15ull) >> 48); }

void sync_core() {
  if (have_membarrier) syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0);
}

// A pool within 1 GiB of the code, so that a 32-bit jump reaches it and the stub reaches the code's data.
Pool* pool_for(uint64_t site) {
  for (int i = 0; i < npools; i++) {
    const auto d = int64_t(uint64_t(pools[i].base) - site);
    if (d > -(1 << 30) && d < (1 << 30) && pools[i].used + kStubMax <= kPool) return &pools[i];
  }
  if (npools == 8) return nullptr;
  for (int64_t step = 1; step < 256; step++) {
    for (int sign = -1; sign <= 1; sign += 2) {
      const uint64_t want = (site & ~uint64_t(0xfffff)) + uint64_t(sign * step * (4 << 20));
      if (want < 0x10000 || want >> 47) continue;
      void* p = mmap(reinterpret_cast<void*>(want), kPool, PROT_READ | PROT_WRITE | PROT_EXEC,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
      if (p == MAP_FAILED) continue;
      if (uint64_t(p) != want) {
        munmap(p, kPool);
        continue;
      }
      pools[npools] = {static_cast<uint8_t*>(p), 0};
      return &pools[npools++];
    }
  }
  return nullptr;
}

// Writes the few instructions that a stub needs.
struct Writer {
  uint8_t* p;
  bool ymm;
  void b(int x) { *p++ = uint8_t(x); }
  void d(int64_t x) {
    const auto v = int32_t(x);
    memcpy(p, &v, 4);
    p += 4;
  }
  void vex(int pp, int map, int op, int reg, int v, int rm) {  // three bytes and opcode, W0
    b(0xC4);
    b((reg & 8 ? 0 : 0x80) | 0x40 | (rm & 8 ? 0 : 0x20) | map);
    b(((~v & 15) << 3) | (ymm ? 4 : 0) | pp);
    b(op);
  }
  void rrr(int pp, int map, int op, int dst, int x, int y) {
    vex(pp, map, op, dst, x, y);
    b(0xC0 | (dst & 7) << 3 | (y & 7));
  }
  void shift(int ext, int dst, int src) {  // words by 8 bits
    vex(1, 1, 0x71, 0, dst, src);
    b(0xC0 | ext << 3 | (src & 7));
    b(8);
  }
  void left(int dst, int src) { shift(6, dst, src); }
  void right(bool keep_sign, int dst, int src) { shift(keep_sign ? 4 : 2, dst, src); }
  void madd(int dst, int x, int y) { rrr(1, 1, 0xF5, dst, x, y); }  // vpmaddwd
  void add(int dst, int x, int y) { rrr(1, 1, 0xFE, dst, x, y); }   // vpaddd
  void move_rsp(int32_t by) {                                       // lea: the flags stay
    b(0x48);
    b(0x8D);
    b(0xA4);
    b(0x24);
    d(by);
  }
  void spill(bool store, int r, int off) {  // the whole register at [rsp + off]
    if (have512) {                          // vmovdqu64 zmm
      b(0x62);
      b((r & 8 ? 0 : 0x80) | 0x71);
      b(0xFE);
      b(0x48);
    } else {
      b(0xC4);
      b((r & 8 ? 0 : 0x80) | 0x61);
      b(0x7E);
    }
    b(store ? 0x7F : 0x6F);
    b(0x84 | (r & 7) << 3);
    b(0x24);
    d(off);
  }
};

// mov byte [the mark of the operation], 1: no flag and no register changes. False: out of a displacement's reach.
bool write_mark(Writer& s, Op op) {
  const int64_t disp = int64_t(uint64_t(&marks[op])) - int64_t(uint64_t(s.p) + 7);
  if (disp != int32_t(disp)) return false;
  s.b(0xC6);
  s.b(0x05);
  s.d(disp);
  s.b(1);
  return true;
}

constexpr int kFrame = 128 + 3 * 64;  // below the red zone

// vmovdqu reg, [the memory operand of the instruction at site]. False: out of a displacement's reach.
bool load_operand(Writer& s, int reg, const uint8_t* site, int len) {
  const int x = (~site[1] >> 3) & 8, b = (~site[1] >> 2) & 8, mod = site[4] >> 6, rm = site[4] & 7;
  int pos = 5, sib = -1, base = rm | b;
  if (rm == 4) {
    sib = site[pos++];
    base = (sib & 7) | b;
  }
  const bool no_base = rm == 4 && (sib & 7) == 5 && mod == 0, rip_relative = rm == 5 && mod == 0;
  int64_t disp = 0;
  if (mod == 1) {
    disp = int64_t(int8_t(site[pos]));  // NOLINT(bugprone-signed-char-misuse): a displacement has a sign
  } else if (mod == 2 || no_base || rip_relative) {
    int32_t v;
    memcpy(&v, site + pos, 4);
    disp = v;
  }
  if (!no_base && !rip_relative && rm == 4 && base == 4) disp += kFrame;  // rsp has moved
  s.b(0xC4);
  s.b((reg & 8 ? 0 : 0x80) | (x ? 0 : 0x40) | (b ? 0 : 0x20) | 1);
  s.b(0x7A | (s.ymm ? 4 : 0));
  s.b(0x6F);
  if (rip_relative) {
    s.b((reg & 7) << 3 | 5);
    disp += int64_t(uint64_t(site)) + len - int64_t(uint64_t(s.p) + 4);
  } else {
    s.b((no_base ? 0 : 0x80) | (reg & 7) << 3 | rm);
    if (sib >= 0) s.b(sib);
  }
  if (disp != int32_t(disp)) return false;
  s.d(disp);
  return true;
}

// Bytes become words (odd ones by a shift, even ones by two), vpmaddwd pairs them exactly, and the two halves add up.
bool write_stub(Writer& s, const uint8_t* site, const Insn& in) {
  int t[3], n = 0;
  for (int r = 0; n < 3; r++) {
    if (r != in.dst && r != in.src1 && r != in.src2) t[n++] = r;
  }
  if (!write_mark(s, in.op)) return false;
  s.move_rsp(-kFrame);
  for (int i = 0; i < 3; i++) s.spill(true, t[i], 64 * i);
  const int a = in.src1, b = in.src2 < 0 ? t[2] : in.src2;
  if (in.src2 < 0 && !load_operand(s, b, site, in.len)) return false;
  if (in.op == WSSD) {
    s.madd(t[0], a, b);
  } else {
    const bool a_signed = in.op == BSSD || in.op == BSUD, b_signed = in.op == BUSD || in.op == BSSD;
    s.left(t[0], a);
    s.right(a_signed, t[0], t[0]);
    s.left(t[1], b);
    s.right(b_signed, t[1], t[1]);
    s.madd(t[0], t[0], t[1]);
    s.right(a_signed, t[1], a);
    s.right(b_signed, t[2], b);
    s.madd(t[1], t[1], t[2]);
    s.add(t[0], t[0], t[1]);
  }
  s.add(in.dst, in.dst, t[0]);
  for (int i = 0; i < 3; i++) s.spill(false, t[i], 64 * i);
  s.move_rsp(kFrame);
  s.b(0xE9);
  s.d(int64_t(uint64_t(site)) + in.len - int64_t(uint64_t(s.p) + 4));
  return true;
}

// int3 first, then the jump's distance, then its opcode, so that no other thread runs half of it. ThreadSanitizer keeps no record
// of code, so it may not look at these stores.
__attribute__((no_sanitize("thread"))) void write_jump(volatile uint8_t* site, int32_t distance) {
  site[0] = 0xCC;
  sync_core();
  for (int i = 0; i < 4; i++) site[1 + i] = uint8_t(uint32_t(distance) >> (8 * i));
  sync_core();
  site[0] = 0xE9;
  sync_core();
}

// A thread that meets the int3 of a half-written site waits for its end.
void on_sigtrap(int /*sig*/, siginfo_t* /*si*/, void* ctx) {
  auto& rip = static_cast<ucontext_t*>(ctx)->uc_mcontext.gregs[REG_RIP];
  if (!is_patched(uint64_t(rip) - 1)) {
    signal(SIGTRAP, SIG_DFL);
    raise(SIGTRAP);
    return;
  }
  rip--;
  while (*reinterpret_cast<volatile uint8_t*>(rip) == 0xCC) sched_yield();
}

struct Locked {
  Locked() {
    while (lock.test_and_set(std::memory_order_acquire)) sched_yield();
  }
  ~Locked() { lock.clear(std::memory_order_release); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
};

}  // namespace

void enable_patching(bool yes) {
  unsigned a, b, c, d;
  if (yes) {
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(b & bit_AVX2)) return;
    unsigned lo, hi;
    __asm__("xgetbv" : "=a"(lo), "=d"(hi) : "c"(0));
    have512 = (b & bit_AVX512F) && (lo & 0xE6) == 0xE6;
    have_membarrier = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0) == 0;
    struct sigaction sa {};
    sa.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sa.sa_sigaction = on_sigtrap;
    sigaction(SIGTRAP, &sa, nullptr);
  }
  on = yes;
}
bool patching() { return on.load(std::memory_order_relaxed); }
size_t patched_sites() { return nsites; }

bool ran(Op op) { return marks[op].load(std::memory_order_relaxed) != 0; }
void forget_runs() {
  for (auto& m : marks) m.store(0, std::memory_order_relaxed);
}
void mark_run(Op op) { marks[op].store(1, std::memory_order_relaxed); }

bool is_patched(uint64_t rip) {
  for (size_t h = slot_of(rip);; h++) {
    const uint64_t v = table[h % kSlots].load(std::memory_order_acquire);
    if (v == rip) return true;
    if (!v) return false;
  }
}

bool patch_site(uint64_t rip, const Insn& in) {
  if (in.op != BUSD && in.op != BSSD && in.op != BSUD && in.op != BUUD && in.op != WSSD) return false;
  const Locked locked;
  if (is_patched(rip)) return true;
  if (nsites >= kMaxSites) return false;
  Pool* pool = pool_for(rip);
  if (!pool) return false;
  auto* site = reinterpret_cast<uint8_t*>(rip);
  uint8_t* const stub = pool->base + pool->used;
  Writer s{stub, in.ymm};
  if (!write_stub(s, site, in)) return false;

  constexpr uint64_t kPageMask = ~uint64_t(4095);
  const uint64_t page = rip & kPageMask, len = ((rip + 5 + 4095) & kPageMask) - page;
  if (mprotect(reinterpret_cast<void*>(page), len, PROT_READ | PROT_WRITE | PROT_EXEC)) return false;
  pool->used += (size_t(s.p - stub) + 15) & ~size_t(15);
  size_t h = slot_of(rip);
  while (table[h % kSlots].load()) h++;
  table[h % kSlots].store(rip, std::memory_order_release);
  write_jump(site, int32_t(int64_t(uint64_t(stub)) - int64_t(rip + 5)));
  mprotect(reinterpret_cast<void*>(page), len, PROT_READ | PROT_EXEC);
  nsites++;
  return true;
}

}  // namespace nyb::test::vnni
// NOLINTEND(performance-no-int-to-ptr)
