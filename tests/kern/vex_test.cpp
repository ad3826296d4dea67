// The macro that writes down vpdpbusd, which NASM 2.16 cannot encode: every form of it as objdump and as our own decoder read it.
#include <gtest/gtest.h>

#include "kern/objects.h"
#include "support/vnni_emu.h"

// NOLINTNEXTLINE(readability-identifier-naming): names of the assembler
extern "C" const uint8_t nyb_vex_insns[], nyb_vex_insns_end[];

namespace nyb::test {
namespace {

constexpr const char* kGpr[16] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                  "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};

struct Form {
  int dst, u, s;  // s -1: memory
  int base, index, scale, disp;
};

// In the order of vex_insns.asm.
std::vector<Form> all_forms() {
  std::vector<Form> v;
  for (int d = 0; d < 16; d++) {
    for (int u = 0; u < 16; u++) {
      for (int s = 0; s < 16; s++) v.push_back({d, u, s, 0, 0, 0, 0});
    }
  }
  for (const int disp : {0, 8, -128, 127, 128, -129, 65536}) {
    for (int b = 0; b < 16; b++) {
      v.push_back({9, 3, -1, b, -1, 0, disp});
      v.push_back({2, 12, -1, b, -1, 0, disp});
    }
  }
  for (const int disp : {0, -32, 4096}) {
    for (const int scale : {1, 2, 4, 8}) {
      for (int b = 0; b < 16; b++) {
        for (int x = 0; x < 16; x++) {
          if (x != 4) v.push_back({10, 5, -1, b, x, scale, disp});
        }
      }
    }
  }
  return v;
}

// As GNU's tools write it.
std::string text_of(const Form& f) {
  std::string operand;
  if (f.s >= 0) {
    operand = "%ymm" + std::to_string(f.s);
  } else {
    char disp[24] = "";
    const bool needed = f.base % 8 == 5;  // rbp and r13 always have one
    if (f.disp || needed) snprintf(disp, sizeof disp, "%s0x%x", f.disp < 0 ? "-" : "", unsigned(f.disp < 0 ? -f.disp : f.disp));
    operand = std::string(disp) + "(%" + kGpr[f.base];
    if (f.index >= 0) operand += std::string(",%") + kGpr[f.index] + "," + std::to_string(f.scale);
    operand += ")";
  }
  return "{vex} vpdpbusd " + operand + ",%ymm" + std::to_string(f.u) + ",%ymm" + std::to_string(f.dst);
}

TEST(Vex, ObjdumpReadsEveryFormOfVpdpbusd) {
  const auto objects = built_objects("insns");
  ASSERT_EQ(objects.size(), 3u);
  const auto list = disassemble(objects[1], ".text");
  const auto forms = all_forms();
  ASSERT_EQ(list.size(), forms.size());
  for (size_t i = 0; i < forms.size(); i++) ASSERT_EQ(list[i].text, text_of(forms[i])) << "number " << i;
}

TEST(Vex, TheEmulationReadsEveryFormOfVpdpbusd) {
  uint64_t gpr[16];
  for (uint64_t i = 0; i < 16; i++) gpr[i] = 0x123457 * (i + 1);
  const uint8_t* p = nyb_vex_insns;
  for (const Form& f : all_forms()) {
    vnni::Insn in{};
    ASSERT_LT(p, nyb_vex_insns_end);
    ASSERT_TRUE(vnni::decode(p, gpr, 0, in)) << text_of(f);
    uint64_t addr = 0;
    if (f.s < 0) {
      addr = gpr[f.base] + uint64_t(int64_t(f.disp));
      if (f.index >= 0) addr += gpr[f.index] * unsigned(f.scale);
    }
    ASSERT_TRUE(in.op == vnni::BUSD && in.ymm && in.dst == f.dst && in.src1 == f.u && in.src2 == f.s && in.addr == addr)
        << text_of(f);
    p += in.len;
  }
  EXPECT_EQ(p, nyb_vex_insns_end);
}

}  // namespace
}  // namespace nyb::test
