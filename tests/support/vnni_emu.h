// vnni_emu.h - runs VEX-encoded AVX-VNNI and AVX-VNNI-INT8 instructions on a CPU that lacks them: a SIGILL handler decodes
// the instruction at RIP, computes it on the registers saved in the signal frame, and resumes behind it. A trap costs about
// 10 us, so tests in this mode stay under a million instructions; vnni_patch.h is the fast mode. Tests only.
#pragma once
#include <cstdint>

namespace nyb::test::vnni {

// Installs the handler for the process, with an alternate signal stack for the calling thread. False where the signal frame
// carries no AVX state; nothing is installed then. A signal that is not one of ours goes to the handler that was there before.
bool install();
void uninstall();

// An alternate signal stack for the calling thread, where it has none; for threads other than that of install().
void use_alt_stack();

enum Op { BUSD, BUSDS, WSSD, WSSDS, BSSD, BSSDS, BSUD, BSUDS, BUUD, BUUDS, NOPS };
uint64_t count(Op op);  // instructions emulated by traps so far, all threads
uint64_t count();

// One instruction in scalar code: n is 4 (xmm) or 8 (ymm) sums of 32 bits.
void dot(Op op, int32_t* dst, const void* src1, const void* src2, int n);

struct Insn {
  Op op;
  int len;   // bytes
  bool ymm;  // 256 bits
  int dst, src1;
  int src2;  // -1: memory at addr
  uint64_t addr;
};
// Decodes the bytes at p. gpr is in encoding order (rax rcx rdx rbx rsp rbp rsi rdi r8..), rip the address that p stands for.
// False: not one of these instructions.
bool decode(const uint8_t* p, const uint64_t gpr[16], uint64_t rip, Insn& out);

}  // namespace nyb::test::vnni
