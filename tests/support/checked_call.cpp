#include "support/checked_call.h"

#include <cpuid.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <array>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "support/vnni_emu.h"
#include "support/vnni_patch.h"

namespace nyb::test {

// What checked_call.asm reads and writes.
struct CheckedState {
  const void* fn;
  uint64_t stack;
  uint32_t returned, vectors, xinuse_ok, mxcsr_in, mxcsr_out, xinuse;
  uint64_t flags;
  uint8_t fpu[28];
  uint8_t pad[52];
  uint64_t gpr_in[16], gpr_out[16];
  uint64_t k_in[8], k_out[8];
  uint64_t vec_in[32][8], vec_out[32][8];
};
extern "C" {
extern CheckedState nyb_checked_state;
void nyb_checked_run();
void nyb_checked_recover();
void nyb_checked_probe();
}

namespace {

using State = CheckedState;

enum Gpr { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15 };
constexpr const char* kGprName[16] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                      "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};

static_assert(offsetof(State, returned) == 16 && offsetof(State, mxcsr_in) == 28 && offsetof(State, xinuse) == 36);
static_assert(offsetof(State, flags) == 40 && offsetof(State, fpu) == 48 && offsetof(State, gpr_in) == 128);
static_assert(offsetof(State, gpr_out) == 256 && offsetof(State, k_in) == 384 && offsetof(State, k_out) == 448);
static_assert(offsetof(State, vec_in) == 512 && offsetof(State, vec_out) == 2560 && sizeof(State) == 4608);

State& state() { return nyb_checked_state; }

// Of the call under way; the handler reads and writes it.
volatile sig_atomic_t active;
volatile sig_atomic_t fault_signal;
volatile uint64_t fault_address, fault_rip;

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP};
struct sigaction old_actions[5];

void on_fault(int sig, siginfo_t* si, void* ctx) {
  auto* uc = static_cast<ucontext_t*>(ctx);
  if (!active) {  // not ours: run the instruction again under the handler that was there
    for (size_t i = 0; i < std::size(kSignals); i++) {
      if (kSignals[i] == sig) sigaction(sig, &old_actions[i], nullptr);
    }
    return;
  }
  active = 0;
  fault_signal = sig;
  fault_address = reinterpret_cast<uint64_t>(si->si_addr);
  fault_rip = uint64_t(uc->uc_mcontext.gregs[REG_RIP]);
  uc->uc_mcontext.gregs[REG_RIP] = greg_t(reinterpret_cast<uint64_t>(&nyb_checked_recover));
  for (const int s : kSignals) sigdelset(&uc->uc_sigmask, s);  // the emulation's handler may have been interrupted
}

// The stack of the function called: guard | below | the call | above | guard.
constexpr size_t kPage = 4096, kStack = 2 * kPage, kCall = kStack - 1024;
uint8_t* stack_memory() {
  static uint8_t* const p = [] {
    void* m = mmap(nullptr, kStack + 2 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (m == MAP_FAILED) abort();
    uint8_t* inner = static_cast<uint8_t*>(m) + kPage;
    if (mprotect(inner, kStack, PROT_READ | PROT_WRITE)) abort();
    return inner;
  }();
  return p;
}

bool has_avx() {
  unsigned a, b, c, d;
  return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_OSXSAVE) && (c & bit_AVX);
}

uint32_t vector_level() {
  unsigned a, b, c, d, lo, hi;
  if (!has_avx()) return 0;
  __asm__("xgetbv" : "=a"(lo), "=d"(hi) : "c"(0));
  if ((lo & 6) != 6) return 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_AVX512F) && (b & bit_AVX512BW) && (lo & 0xE6) == 0xE6 ? 2 : 1;
}

// Which bits of XINUSE (ymm 4, upper zmm 0x40) this CPU clears on vzeroupper: only those can be asked of a kernel.
uint32_t xinuse_mask(const State& dirty) {
  unsigned a, b, c, d;
  if (!dirty.vectors || !__get_cpuid_count(0xD, 1, &a, &b, &c, &d) || !(a & 4)) return 0;
  State& s = state();
  s = dirty;
  s.xinuse_ok = 1;
  s.fn = reinterpret_cast<const void*>(&nyb_checked_probe);
  nyb_checked_run();
  return 0x44 & ~s.xinuse;
}

std::string hex(uint64_t v) {
  char text[24];
  snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(v));
  return text;
}

// Places the arguments; returns how many bytes of the stack, from rsp up, belong to the callee.
size_t place_arguments(State& s, Abi abi, std::span<const CallArg> args, uint64_t& rng) {
  static constexpr Gpr kSysv[6] = {RDI, RSI, RDX, RCX, R8, R9}, kWin[4] = {RCX, RDX, R8, R9};
  size_t ints = 0, floats = 0, place = 0, owned = abi == Abi::win64 ? 32 : 0;
  for (const CallArg& a : args) {
    const uint64_t garbage = next_random(rng), keep = a.width == 64 ? ~uint64_t(0) : (uint64_t(1) << a.width) - 1;
    const uint64_t bits = (a.bits & keep) | (garbage & ~keep);
    const bool in_register = abi == Abi::win64 ? place < 4 : a.is_float ? floats < 8 : ints < 6;
    const size_t number = abi == Abi::win64 ? place : a.is_float ? floats : ints;
    if (!in_register) {
      memcpy(stack_memory() + kCall + owned, &bits, 8);
      owned += 8;
    } else if (a.is_float) {
      s.vec_in[number][0] = bits;
    } else {
      s.gpr_in[abi == Abi::win64 ? kWin[number] : kSysv[number]] = bits;
    }
    place++;
    (a.is_float ? floats : ints)++;
  }
  return owned;
}

class Checker {
 public:
  Checker(const State& s, Abi abi, std::vector<Finding>& out) : s_(s), abi_(abi), out_(out) {}
  void registers() {
    static constexpr Gpr kBoth[] = {RBX, RBP, R12, R13, R14, R15}, kWin[] = {RDI, RSI};
    for (const Gpr r : kBoth) gpr(r);
    if (abi_ == Abi::sysv) return;
    for (const Gpr r : kWin) gpr(r);
    for (int i = 6; i < 16; i++) {
      if (memcmp(s_.vec_in[i], s_.vec_out[i], 16) != 0) add(Check::saved_xmm, "xmm" + std::to_string(i) + " is not preserved");
    }
  }
  void modes(uint32_t xinuse_mask) {
    if (s_.gpr_out[RSP] != s_.stack) {
      add(Check::stack_pointer, "rsp is off by " + std::to_string(int64_t(s_.gpr_out[RSP] - s_.stack)) + " after the return");
    }
    for (int i = 0; s_.vectors && i < 16; i++) {
      const int top = s_.vectors == 2 ? 8 : 4;
      for (int j = 2; j < top; j++) {
        if (s_.vec_out[i][j] == 0) continue;
        add(Check::upper, "the upper half of vector " + std::to_string(i) + " is not zero: no vzeroupper");
        i = 16;
        break;
      }
    }
    if (out_.empty() && (s_.xinuse & xinuse_mask)) add(Check::upper, "XINUSE is " + hex(s_.xinuse) + " after the return");
    if ((s_.mxcsr_out ^ s_.mxcsr_in) & ~0x3Fu) add(Check::mxcsr, "MXCSR was " + hex(s_.mxcsr_in) + ", is " + hex(s_.mxcsr_out));
    if (s_.flags & 0x400) add(Check::direction, "the direction flag is set");
    uint16_t control, tags;
    memcpy(&control, s_.fpu, 2);
    memcpy(&tags, s_.fpu + 8, 2);
    if (control != 0x37F || tags != 0xFFFF) add(Check::x87, "x87 control word " + hex(control) + ", tags " + hex(tags));
  }
  // `want` is what the stack held before the call; `owned` bytes from kCall up are the callee's.
  void stack(const uint8_t* want, size_t owned) {
    const uint8_t* have = stack_memory();
    const size_t above = kCall + owned, below = kCall - 8 - 128;
    if (memcmp(have + above, want + above, kStack - above) != 0) {
      add(Check::stack_canary, "bytes of the caller's stack above the arguments changed");
    }
    if (abi_ == Abi::sysv && !vnni::patching() && memcmp(have, want, below) != 0) {
      add(Check::stack_below, "the stack below the red zone changed, but the unwind information says that rsp never moves");
    }
  }

 private:
  void gpr(Gpr r) {
    if (s_.gpr_in[r] == s_.gpr_out[r]) return;
    add(Check::saved_gpr, std::string(kGprName[r]) + " was " + hex(s_.gpr_in[r]) + ", is " + hex(s_.gpr_out[r]));
  }
  void add(Check c, std::string text) { out_.push_back({c, std::move(text)}); }
  const State& s_;
  Abi abi_;
  std::vector<Finding>& out_;
};

const char* signal_name(int sig) {
  switch (sig) {
    case SIGSEGV: return "SIGSEGV";
    case SIGBUS: return "SIGBUS";
    case SIGILL: return "SIGILL";
    case SIGFPE: return "SIGFPE";
    default: return "SIGTRAP";
  }
}

}  // namespace

const char* abi_name(Abi a) { return a == Abi::sysv ? "sysv" : "win64"; }

const char* check_name(Check c) {
  static constexpr const char* names[] = {"saved_gpr", "saved_xmm", "stack_pointer", "stack_canary", "stack_below",
                                          "upper",     "mxcsr",     "direction",     "x87",          "fault",
                                          "guard",     "slack",     "result"};
  return names[size_t(c)];
}

void install_fault_handlers() {
  static const bool done = [] {
    vnni::use_alt_stack();
    struct sigaction sa {};
    sa.sa_sigaction = on_fault;
    sa.sa_flags = SA_SIGINFO | SA_ONSTACK;
    for (size_t i = 0; i < std::size(kSignals); i++) {
      if (sigaction(kSignals[i], &sa, &old_actions[i])) abort();
    }
    return true;
  }();
  (void)done;
}

CallOutcome checked_call(const void* fn, Abi abi, std::span<const CallArg> args, uint64_t seed) {
  install_fault_handlers();
  static const uint32_t level = vector_level();
  State& s = state();
  uint64_t rng = seed;

  static std::array<uint8_t, kStack> stack_before;
  for (size_t i = 0; i < kStack; i += 8) {
    const uint64_t v = (seed + i) * 0x9E3779B97F4A7C15u | uint64_t(0xA) << 60;  // no address
    memcpy(stack_before.data() + i, &v, 8);
  }
  memcpy(stack_memory(), stack_before.data(), kStack);

  s = {};
  s.fn = fn;
  s.stack = reinterpret_cast<uint64_t>(stack_memory()) + kCall;
  s.vectors = level;
  s.mxcsr_in = 0x1F80 | (next_random(rng) & 0x3F);
  for (auto& r : s.gpr_in) r = (next_random(rng) >> 4) | uint64_t(0xA) << 60;  // not canonical: used as an address it faults
  for (auto& v : s.vec_in) {
    for (auto& q : v) q = next_random(rng) | 1;
  }
  for (auto& k : s.k_in) k = next_random(rng);
  const size_t owned = place_arguments(s, abi, args, rng);
  static const uint32_t mask = [&] {
    const State wanted = s;
    const uint32_t m = xinuse_mask(wanted);
    s = wanted;
    return m;
  }();
  s.xinuse_ok = mask != 0;

  CallOutcome out;
  fault_signal = 0;
  active = 1;
  nyb_checked_run();
  active = 0;
  out.rax = s.gpr_out[RAX];
  out.xmm0 = uint32_t(s.vec_out[0][0]);
  if (fault_signal) {
    out.signal = int(fault_signal);
    out.fault_address = fault_address;
    out.fault_code = fault_rip - reinterpret_cast<uint64_t>(fn);
    out.findings.push_back({Check::fault, std::string(signal_name(out.signal)) + " at the kernel's byte " + hex(out.fault_code) +
                                              ", address " + hex(out.fault_address)});
    return out;
  }
  Checker check(s, abi, out.findings);
  check.registers();
  check.modes(mask);
  check.stack(stack_before.data(), owned);
  return out;
}

}  // namespace nyb::test
