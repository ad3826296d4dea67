// The assembled objects: no instruction that a path's CPUs lack, and symbols, unwind information and CET marks that tools rely on.
#include "kern/objects.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "kern/kernels.h"
#include "support/vnni_emu.h"

// libgcc's, which the C++ runtime itself unwinds by; it has no public header.
extern "C" {
struct dwarf_eh_bases {
  void *tbase, *dbase, *func;
};
const void* _Unwind_Find_FDE(void* pc, dwarf_eh_bases* bases);  // NOLINT(bugprone-reserved-identifier)
}

namespace nyb::test {
namespace {

// All instructions of one path in the objects of the given kind.
std::vector<Instruction> instructions(const std::string& kind, const std::string& path) {
  std::vector<Instruction> all;
  for (const std::string& object : built_objects(kind)) {
    if (!read_elf(object).section(".text." + path)) continue;
    const auto some = disassemble(object, ".text." + path);
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

// The dot instructions that an instruction list holds, found by their bytes: disassemblers do not know all of them.
std::map<vnni::Op, int> vex_dots(const std::vector<Instruction>& list) {
  std::map<vnni::Op, int> found;
  for (const Instruction& in : list) {
    const uint64_t gpr[16] = {};
    uint8_t bytes[16] = {};
    std::copy_n(in.bytes.begin(), std::min<size_t>(in.bytes.size(), 15), bytes);
    vnni::Insn dot;
    if (vnni::decode(bytes, gpr, 0, dot)) {
      EXPECT_EQ(size_t(dot.len), in.bytes.size()) << in.symbol << ": " << in.text;
      found[dot.op]++;
    }
  }
  return found;
}

class Objects : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Both, Objects, testing::Values("elf", "ms"), [](const auto& info) { return std::string(info.param); });

TEST_P(Objects, NoInstructionThatThePathsCpusLack) {
  for (const char* path : {"avx2", "vnni", "vnni8", "avx512"}) {
    const auto list = instructions(GetParam(), path);
    EXPECT_GT(list.size(), 30u) << path;
    for (const Instruction& in : list) EXPECT_EQ(refused(in, path), "") << in.symbol << " at " << in.offset;
  }
}

TEST_P(Objects, DotInstructionsAreThePathsOwn) {
  EXPECT_TRUE(vex_dots(instructions(GetParam(), "avx2")).empty());
  EXPECT_TRUE(vex_dots(instructions(GetParam(), "avx512")).empty());
  auto vnni = vex_dots(instructions(GetParam(), "vnni")), vnni8 = vex_dots(instructions(GetParam(), "vnni8"));
  EXPECT_GT(vnni[vnni::BUSD], 0) << "no VEX vpdpbusd in .text.vnni";
  EXPECT_EQ(vnni.size(), 1u);
  EXPECT_GT(vnni8[vnni::BSSD], 0) << "no VEX vpdpbssd in .text.vnni8";
  vnni8.erase(vnni::BUSD);  // allowed there
  EXPECT_EQ(vnni8.size(), 1u);
}

TEST_P(Objects, Avx512IsUsedWhereItMayBe) {
  int wide = 0, dots = 0;
  for (const Instruction& in : instructions(GetParam(), "avx512")) {
    const bool evex = in.bytes.at(0) == 0x62;
    wide += evex && in.text.find("%zmm") != std::string::npos;
    dots += evex && in.mnemonic == "vpdpbusd";
  }
  EXPECT_GT(wide, 100);
  EXPECT_GT(dots, 0);
}

TEST_P(Objects, SymbolsAreFunctionsWithASizeAndAnEndbr64) {
  const std::string suffix = std::string(GetParam()) == "ms" ? "_ms" : "";
  std::set<std::string> seen;
  for (const std::string& path : built_objects(GetParam())) {
    const ObjectFile file = read_elf(path);
    for (const char* note : {".note.GNU-stack", ".note.gnu.property"}) EXPECT_TRUE(file.section(note)) << path << " lacks " << note;
    for (const std::string& bad : bad_symbols(file, suffix)) ADD_FAILURE() << path << ": " << bad;
    for (const ObjectSymbol& s : file.symbols) {
      if (s.global && !s.section.empty()) seen.insert(s.name);
    }
  }
  for (const KernelForms& k : kernel_forms()) {  // and nothing is listed that is not there, nor the reverse
    for (const Path p : kAllPaths) {
      if (k.body[size_t(p)] != p || p == Path::ref) continue;
      const std::string name =
          "nyb_" + std::string(k.name) + "_" + std::string(path_name(p)) + (std::string(GetParam()) == "ms" ? "_ms" : "");
      EXPECT_EQ(seen.erase(name), 1u) << name << " is not in the objects";
    }
  }
  for (const std::string& name : seen) ADD_FAILURE() << name << " is assembled, but kernels.def does not list it";
}

// The rules themselves: each fault of bad_objects.asm is refused, for the reason that its name begins with.
TEST(BadObjects, EachInstructionIsRefusedForItsReason) {
  std::map<std::string, std::string> first;
  for (const Instruction& in : disassemble(built_objects("insns").at(2), ".text.avx2")) {
    const std::string reason = refused(in, "avx2");
    if (!reason.empty()) first.emplace(in.symbol, reason);
  }
  for (const char* name : {"evex_zmm", "evex_ymm16", "evex_dot", "evex_xmm", "opmask", "dot_vnni8", "feature_bmi2", "feature_bmi1",
                           "feature_popcnt", "feature_gfni", "approximate_rcp", "approximate_rsqrt", "undecodable"}) {
    const std::string text(name), word = text.substr(0, text.find('_'));
    const std::string& reason = first[std::string("nyb_bad_") + name + "_avx2"];
    EXPECT_EQ(reason.rfind(word, 0), 0u) << name << " gave: " << reason;
  }
  EXPECT_EQ(first.count("nyb_bad_nothing_avx2"), 0u);
  EXPECT_EQ(first.size(), 13u);
}

TEST(BadObjects, EachSymbolIsRefusedForItsReason) {
  const auto bad = bad_symbols(read_elf(built_objects("insns").at(2)), "");
  const std::set<std::string> got(bad.begin(), bad.end());
  const std::set<std::string> want = {"nyb_bad_size_vnni: size",       "nyb_bad_type_vnni: type",
                                      "nyb_bad_type_vnni: size",       "nyb_bad_endbr_vnni: endbr64",
                                      "nyb_bad_section_avx2: section", "nyb_bad_aligned_vnni: alignment"};
  EXPECT_EQ(got, want);
}

TEST(Unwind, EveryByteOfEveryKernelIsCovered) {
  std::map<std::string, uint64_t> size;
  for (const std::string& path : built_objects("elf")) {
    for (const ObjectSymbol& s : read_elf(path).symbols) size[s.name] = s.size;
  }
  for (const KernelForms& k : kernel_forms()) {
    for (const Path p : kAllPaths) {
      if (p == Path::ref || k.body[size_t(p)] != p) continue;
      const std::string name = "nyb_" + std::string(k.name) + "_" + std::string(path_name(p));
      auto* start = const_cast<uint8_t*>(static_cast<const uint8_t*>(k.sysv[size_t(p)]));
      for (const uint64_t at : {uint64_t(0), size[name] / 2, size[name] - 1}) {
        dwarf_eh_bases bases{};
        EXPECT_TRUE(_Unwind_Find_FDE(start + at, &bases)) << name << " + " << at << " has no .eh_frame entry";
        EXPECT_EQ(bases.func, start) << name << " + " << at;
      }
    }
  }
}

}  // namespace
}  // namespace nyb::test
