// The Win64 objects: every kernel has its .pdata entry, and the unwind codes say what the prologue's instructions do.
#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "kern/kernels.h"
#include "kern/objects.h"

namespace nyb::test {
namespace {

// One step of a prologue: what it does, where, and the offset of the instruction behind it.
struct Step {
  enum What { alloc, save_gpr, save_xmm } what;
  int reg;         // of alloc 0
  uint32_t where;  // bytes allocated, or the offset from rsp
  uint32_t after;
  bool operator==(const Step&) const = default;
};

std::string words(const std::vector<Step>& steps) {
  std::string s;
  for (const Step& x : steps) {
    s += " " +
         std::string(x.what == Step::alloc      ? "alloc"
                     : x.what == Step::save_gpr ? "gpr"
                                                : "xmm") +
         std::to_string(x.reg) + "@" + std::to_string(x.where) + "<" + std::to_string(x.after);
  }
  return s;
}

// The instructions of a prologue, decoded by hand: endbr64; sub rsp, n; mov [rsp + n], r; vmovaps [rsp + n], xmm.
std::vector<Step> decode_prologue(const uint8_t* code, uint32_t size) {
  std::vector<Step> steps;
  uint32_t at = 4;
  const auto displacement = [&](uint8_t modrm) {  // of [rsp + n]; `at` is behind the SIB byte
    uint32_t d = 0;
    const uint32_t n = modrm >> 6 == 1 ? 1 : modrm >> 6 == 2 ? 4 : 0;
    memcpy(&d, code + at, n);
    at += n;
    return d;
  };
  while (at < size) {
    const uint8_t* p = code + at;
    if (p[0] == 0x48 && (p[1] == 0x83 || p[1] == 0x81) && p[2] == 0xEC) {
      uint32_t n = p[3];
      if (p[1] == 0x81) memcpy(&n, p + 3, 4);
      at += p[1] == 0x81 ? 7 : 4;
      steps.push_back({Step::alloc, 0, n, at});
    } else if (p[0] == 0x48 && p[1] == 0x89 && (p[2] & 7) == 4 && p[3] == 0x24) {
      at += 4;
      const uint32_t where = displacement(p[2]);
      steps.push_back({Step::save_gpr, p[2] >> 3 & 7, where, at});
    } else if (p[0] == 0xC5 && (p[1] & 0x7F) == 0x78 && p[2] == 0x29 && (p[3] & 7) == 4 && p[4] == 0x24) {
      const int reg = (p[3] >> 3 & 7) + (p[1] & 0x80 ? 0 : 8);
      at += 5;
      const uint32_t where = displacement(p[3]);
      steps.push_back({Step::save_xmm, reg, where, at});
    } else {
      ADD_FAILURE() << "an instruction in a prologue that the test does not know, at " << at;
      break;
    }
  }
  return steps;
}

// UNWIND_INFO as Microsoft's x64 exception handling has it, in the order of the prologue.
std::vector<Step> read_codes(const uint8_t* info, size_t left) {
  std::vector<Step> steps;
  const size_t count = info[2];
  if (4 + 2 * count > left) {
    ADD_FAILURE() << "unwind codes beyond .xdata";
    return steps;
  }
  for (size_t i = 0; i < count;) {
    const uint8_t *code = info + 4 + 2 * i, op = code[1] & 15, reg = code[1] >> 4;
    uint16_t next = 0;
    memcpy(&next, code + 2, 2);
    switch (op) {
      case 1: steps.insert(steps.begin(), {Step::alloc, 0, 8u * next, code[0]}); break;
      case 2: steps.insert(steps.begin(), {Step::alloc, 0, 8u * reg + 8, code[0]}); break;
      case 4: steps.insert(steps.begin(), {Step::save_gpr, reg, 8u * next, code[0]}); break;
      case 8: steps.insert(steps.begin(), {Step::save_xmm, reg, 16u * next, code[0]}); break;
      default: ADD_FAILURE() << "unwind code " << int(op); return steps;
    }
    i += op == 2 ? 1 : 2;
  }
  return steps;
}

struct Target64 {
  uint64_t offset = 0;
  int section = -1;
};
Target64 resolve(const ObjectSection& s, uint64_t at) {  // what a relocated 32-bit field points to
  for (const ObjectRelocation& r : s.relocations) {
    if (r.at != at) continue;
    uint32_t addend;
    memcpy(&addend, s.bytes.data() + at, 4);
    return {r.symbol_value + addend, r.symbol_section};
  }
  return {};
}

void check_object(const std::string& path, std::set<std::string>& seen) {
  const ObjectFile file = read_coff(path);
  const ObjectSection *pdata = file.section(".pdata"), *xdata = file.section(".xdata");
  ASSERT_TRUE(pdata && xdata) << path << " has no .pdata or no .xdata";
  ASSERT_EQ(pdata->bytes.size() % 12, 0u) << path;
  size_t kernels = 0;
  for (const ObjectSymbol& s : file.symbols) {
    if (!s.global || s.section.empty()) continue;
    kernels++;
    seen.insert(s.name);
    bool found = false;
    for (uint64_t at = 0; at < pdata->bytes.size(); at += 12) {
      const Target64 begin = resolve(*pdata, at), end = resolve(*pdata, at + 4), info = resolve(*pdata, at + 8);
      if (begin.section < 0 || file.sections[size_t(begin.section)].name != s.section || begin.offset != s.value) continue;
      found = true;
      const ObjectSection& text = file.sections[size_t(begin.section)];
      EXPECT_EQ(end.section, begin.section) << s.name;
      EXPECT_GT(end.offset, begin.offset) << s.name;
      ASSERT_LE(end.offset, text.bytes.size()) << s.name;
      ASSERT_EQ(&file.sections.at(size_t(info.section)), xdata) << s.name;
      ASSERT_EQ(info.offset % 4, 0u) << s.name;
      const uint8_t* u = xdata->bytes.data() + info.offset;
      EXPECT_EQ(u[0], 1) << s.name << ": version 1, no flags";
      EXPECT_EQ(u[3], 0) << s.name << ": no frame register";
      const auto codes = read_codes(u, xdata->bytes.size() - info.offset),
                 prologue = decode_prologue(text.bytes.data() + begin.offset, u[1]);
      EXPECT_EQ(codes, prologue) << s.name << ": the codes say" << words(codes) << ", the prologue does" << words(prologue);
      ASSERT_GE(prologue.size(), 3u) << s.name;
      EXPECT_EQ(prologue[0].what, Step::alloc) << s.name;
      EXPECT_EQ(prologue[0].where % 16, 8u) << s.name << " leaves rsp unaligned";
    }
    EXPECT_TRUE(found) << s.name << " has no .pdata entry in " << path;
  }
  EXPECT_EQ(pdata->bytes.size() / 12, kernels) << path;
}

TEST(Win64Objects, EveryKernelHasUnwindCodesThatFitItsPrologue) {
  std::set<std::string> seen;
  for (const std::string& path : built_objects("win64")) check_object(path, seen);
  for (const KernelForms& k : kernel_forms()) {
    for (const Path p : kAllPaths) {
      if (p == Path::ref || k.body[size_t(p)] != p) continue;
      const std::string name = "nyb_" + std::string(k.name) + "_" + std::string(path_name(p)) + "_ms";
      EXPECT_EQ(seen.count(name), 1u) << name;
    }
  }
}

}  // namespace
}  // namespace nyb::test
