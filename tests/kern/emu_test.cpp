// The emulation of AVX-VNNI and AVX-VNNI-INT8 that the tests of those paths stand on: decoding, arithmetic, traps and patches.
#include "support/vnni_emu.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "kern/cases.h"
#include "kern/cpu.h"
#include "kern/objects.h"
#include "support/started.h"
#include "support/vnni_patch.h"

// NOLINTNEXTLINE(readability-identifier-naming): names of the assembler
extern "C" const uint8_t nyb_emu_insns[], nyb_emu_insns_end[], nyb_emu_data[];

namespace nyb::test {
namespace {

// The kernels of emu_insns.asm, in its order: dst, src1, src2 (-1: memory), offset of the operand from the base register's value.
struct Encoded {
  const char* text;
  vnni::Op op;
  int len, dst, src1, src2;
  bool ymm;
  uint64_t addr;  // where gpr[i] = 0x1000 * (i + 1), rip-relative ones apart
};
const Encoded kEncoded[] = {
    {"vpdpbssd ymm0, ymm1, ymm2", vnni::BSSD, 5, 0, 1, 2, true, 0},
    {"vpdpbssd ymm15, ymm14, ymm13", vnni::BSSD, 5, 15, 14, 13, true, 0},
    {"vpdpbssd xmm8, xmm7, xmm6", vnni::BSSD, 5, 8, 7, 6, false, 0},
    {"vpdpbssds ymm3, ymm4, ymm5", vnni::BSSDS, 5, 3, 4, 5, true, 0},
    {"vpdpbsud ymm3, ymm4, ymm5", vnni::BSUD, 5, 3, 4, 5, true, 0},
    {"vpdpbuud ymm3, ymm4, ymm5", vnni::BUUD, 5, 3, 4, 5, true, 0},
    {"vpdpbssd ymm9, ymm1, [rax]", vnni::BSSD, 5, 9, 1, -1, true, 0x1000},
    {"vpdpbssd ymm9, ymm1, [rsp]", vnni::BSSD, 6, 9, 1, -1, true, 0x5000},
    {"vpdpbssd ymm9, ymm1, [rbp]", vnni::BSSD, 6, 9, 1, -1, true, 0x6000},
    {"vpdpbssd ymm9, ymm1, [r12 - 64]", vnni::BSSD, 7, 9, 1, -1, true, 0xD000 - 64},
    {"vpdpbssd ymm9, ymm1, [r13 + 4096]", vnni::BSSD, 9, 9, 1, -1, true, 0xE000 + 4096},
    {"vpdpbssd ymm9, ymm1, [rdi + 4 * r9 + 32]", vnni::BSSD, 7, 9, 1, -1, true, 0x8000 + 4 * 0xA000 + 32},
    {"vpdpbssd ymm9, ymm1, [r8 * 8 + 128]", vnni::BSSD, 10, 9, 1, -1, true, 8 * 0x9000 + 128},
    {"vpdpbssd ymm9, ymm1, [rel + 16]", vnni::BSSD, 9, 9, 1, -1, true, 0},
};

TEST(Emulation, DecodesWhatNasmAssembles) {
  uint64_t gpr[16];
  for (uint64_t i = 0; i < 16; i++) gpr[i] = 0x1000 * (i + 1);
  const uint8_t* p = nyb_emu_insns;
  for (const Encoded& e : kEncoded) {
    vnni::Insn in{};
    ASSERT_LT(p, nyb_emu_insns_end) << e.text;
    ASSERT_TRUE(vnni::decode(p, gpr, reinterpret_cast<uint64_t>(p), in)) << e.text;
    EXPECT_EQ(in.op, e.op) << e.text;
    EXPECT_EQ(in.len, e.len) << e.text;
    EXPECT_EQ(in.ymm, e.ymm) << e.text;
    EXPECT_EQ(in.dst, e.dst) << e.text;
    EXPECT_EQ(in.src1, e.src1) << e.text;
    EXPECT_EQ(in.src2, e.src2) << e.text;
    const bool relative = strstr(e.text, "rel") != nullptr;
    EXPECT_EQ(in.addr, relative ? reinterpret_cast<uint64_t>(nyb_emu_data) + 16 : e.addr) << e.text;
    p += in.len;
  }
  EXPECT_EQ(p, nyb_emu_insns_end);
}

TEST(Emulation, DecodesEveryRegisterOfVpdpbusd) {
  const uint64_t gpr[16] = {};
  for (int dst = 0; dst < 16; dst++) {
    for (int a = 0; a < 16; a++) {
      for (int b = 0; b < 16; b++) {  // as docs of VEX have it, written apart from the decoder
        const uint8_t code[5] = {0xC4, uint8_t((dst < 8) << 7 | 1 << 6 | (b < 8) << 5 | 2), uint8_t((15 - a) << 3 | 1 << 2 | 1),
                                 0x50, uint8_t(0xC0 | dst % 8 << 3 | b % 8)};
        vnni::Insn in{};
        ASSERT_TRUE(vnni::decode(code, gpr, 0, in));
        ASSERT_TRUE(in.op == vnni::BUSD && in.ymm && in.len == 5 && in.dst == dst && in.src1 == a && in.src2 == b);
      }
    }
  }
}

TEST(Emulation, RefusesOtherInstructions) {
  const uint64_t gpr[16] = {};
  vnni::Insn in{};
  const uint8_t w1[] = {0xC4, 0xE2, 0xF5, 0x50, 0xC2}, map1[] = {0xC4, 0xE1, 0x75, 0x50, 0xC2},
                evex[] = {0x62, 0xF2, 0x75, 0x28, 0x50, 0xC2}, ud2[] = {0x0F, 0x0B, 0, 0, 0},
                fma[] = {0xC4, 0xE2, 0x75, 0xB8, 0xC2};
  for (const uint8_t* p : {w1, map1, evex, ud2, fma}) EXPECT_FALSE(vnni::decode(p, gpr, 0, in));
}

TEST(Emulation, SumsAtTheEnds) {
  uint8_t a[32], b[32];
  memset(a, 0xFF, 32);
  memset(b, 0x80, 32);
  const struct {
    vnni::Op op;
    int32_t from, want;
  } rows[] = {
      {vnni::BUSD, 0, 4 * 255 * -128},
      {vnni::BUSD, INT32_MIN, int32_t(uint32_t(INT32_MIN) - 4 * 255 * 128)},  // wraps
      {vnni::BUSDS, INT32_MIN, INT32_MIN},                                    // saturates
      {vnni::BSSD, 7, 7 + 4 * 128},
      {vnni::BSSDS, INT32_MAX, INT32_MAX},
      {vnni::BSUD, 1, 1 - 4 * 128},
      {vnni::BUUD, 0, 4 * 255 * 128},
      {vnni::BUUDS, -1, -1},
      {vnni::WSSD, 5, 5 + 2 * 32640},  // -1 * -32640, twice
  };
  for (const auto& r : rows) {
    int32_t d[8];
    for (int32_t& v : d) v = r.from;
    vnni::dot(r.op, d, a, b, 4);
    for (int i = 0; i < 4; i++) EXPECT_EQ(d[i], r.want) << int(r.op);
    EXPECT_EQ(d[7], r.from);
  }
}

// Runs `body` in a child process, since patched code stays patched; how it ended in words, empty if it exited with 0.
template <class Body>
std::string in_child(const Body& body) {
  fflush(nullptr);
  const pid_t child = started(fork(), "fork");
  if (child == 0) _exit(body() ? 0 : 1);
  int status = -1;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) return "ended by signal " + std::to_string(WTERMSIG(status));
  return WEXITSTATUS(status) == 0 ? "" : "said no";
}

// The fast mode, by which whole models are run: the same kernels and cases, and hardly a trap.
TEST(Emulation, PatchedKernelsGiveTheBytesOfTheReference) {
  if (!cannot_run(Path::avx2).empty()) GTEST_SKIP() << "this CPU lacks " << cannot_run(Path::avx2);
  bool any = false;
  for (const Path path : {Path::vnni, Path::vnni8}) {
    if (!needs_emulation(path)) continue;
    for (const KernelForms& k : kernel_forms()) {
      if (k.body[size_t(path)] != path) continue;
      any = true;
      EXPECT_EQ(in_child([&] {
                  install_fault_handlers();
                  if (!vnni::install()) return false;
                  vnni::enable_patching(true);
                  vnni::forget_runs();
                  for (const Abi abi : {Abi::sysv, Abi::win64}) {
                    const void* fn = abi == Abi::sysv ? k.sysv[size_t(path)] : k.win64[size_t(path)];
                    KernRun run({std::string(k.name), std::string(path_name(path)) + " patched", abi, fn, false}, 11);
                    run_case(run, case_of(k.name));
                    if (run.findings().empty()) continue;
                    fprintf(stderr, "%s", run.report().c_str());
                    return false;
                  }
                  if (vnni::patched_sites() == 0 || vnni::count() > 0) {
                    fprintf(stderr, "%zu sites patched, %llu traps\n", vnni::patched_sites(),
                            static_cast<unsigned long long>(vnni::count()));
                    return false;
                  }
                  // The stubs say which instruction they stand for.
                  for (int op = 0; op < vnni::NOPS; op++) {
                    const bool own = op == (path == Path::vnni ? vnni::BUSD : vnni::BSSD);
                    if (vnni::ran(vnni::Op(op)) == own) continue;
                    fprintf(stderr, "operation %d %s\n", op, own ? "did not run" : "ran");
                    return false;
                  }
                  return true;
                }),
                "")
          << k.name << "/" << path_name(path);
    }
  }
  if (!any) GTEST_SKIP() << "this CPU lacks no VNNI instruction that could be patched";
}

// What is not ours ends the process as it would without the handler.
TEST(Emulation, OtherIllegalInstructionsStillKill) {
  fflush(nullptr);
  const pid_t child = started(fork(), "fork");
  if (child == 0) {
    signal(SIGILL, SIG_DFL);
    vnni::install();
    __asm__ volatile("ud2");
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGILL) << status;
}

}  // namespace
}  // namespace nyb::test
