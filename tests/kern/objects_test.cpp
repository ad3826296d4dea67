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
const void* _Unwind_Find_FDE(void* pc, dwarf_eh_bases* bases);
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

bool names_512(const std::string& text) {
  if (text.find("%zmm") != std::string::npos) return true;
  const size_t k = text.find("%k");
  return k != std::string::npos && k + 2 < text.size() && text[k + 2] >= '0' && text[k + 2] <= '7';
}

bool is_evex(const Instruction& in) { return !in.bytes.empty() && in.bytes[0] == 0x62; }

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

TEST_P(Objects, NoEvexOutsideOfAvx512) {
  for (const char* path : {"avx2", "vnni", "vnni8"}) {
    const auto list = instructions(GetParam(), path);
    EXPECT_GT(list.size(), 30u) << path;
    for (const Instruction& in : list) {
      EXPECT_FALSE(is_evex(in)) << in.symbol << ": EVEX, which " << path << " CPUs lack: " << in.text;
      EXPECT_FALSE(names_512(in.text)) << in.symbol << ": " << in.text;
      EXPECT_EQ(in.text.find("(bad)"), std::string::npos) << in.symbol << " at " << in.offset;
    }
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
    wide += is_evex(in) && names_512(in.text);
    dots += is_evex(in) && in.mnemonic == "vpdpbusd";
  }
  EXPECT_GT(wide, 100);
  EXPECT_GT(dots, 0);
}

// What the paths' CPUID bits (macros/isa.inc) do not cover: BMI, LZCNT, POPCNT, MOVBE, AES, GFNI and the later AVX-512 sets.
TEST_P(Objects, NothingBeyondTheDetectedFeatures) {
  const std::set<std::string> refused = {
      "andn",          "bextr",        "blsi",      "blsr",           "blsmsk",     "bzhi",      "mulx",      "pdep",
      "pext",          "rorx",         "sarx",      "shlx",           "shrx",       "tzcnt",     "lzcnt",     "popcnt",
      "movbe",         "adcx",         "adox",      "crc32",          "vpermb",     "vpermi2b",  "vpermt2b",  "vpcompressb",
      "vpcompressw",   "vpexpandb",    "vpexpandw", "vpopcntb",       "vpopcntw",   "vpopcntd",  "vpopcntq",  "vpconflictd",
      "vpconflictq",   "vplzcntd",     "vplzcntq",  "vpmultishiftqb", "vpclmulqdq", "pclmulqdq", "vdpbf16ps", "vcvtne2ps2bf16",
      "vcvtneps2bf16", "vpshufbitqmb", "prefetchw", "prefetchwt1"};
  const auto starts = [](const std::string& s, const char* with) { return s.rfind(with, 0) == 0; };
  for (const char* path : {"avx2", "vnni", "vnni8", "avx512"}) {
    for (const Instruction& in : instructions(GetParam(), path)) {
      const std::string& m = in.mnemonic;
      const bool family = starts(m, "vaes") || starts(m, "vgf2p8") || starts(m, "vpmadd52") || starts(m, "vpshld") ||
                          starts(m, "vpshrd") || starts(m, "vbcst") || starts(m, "vexp2") || starts(m, "vrcp28") ||
                          starts(m, "vrsqrt28") || m == "vpdpwssd";
      EXPECT_FALSE(refused.count(m) || family) << in.symbol << ": " << in.text;
    }
  }
}

// vrcpps and its kin give other bits on other makers' CPUs.
TEST_P(Objects, NothingApproximate) {
  for (const char* path : {"avx2", "vnni", "vnni8", "avx512"}) {
    for (const Instruction& in : instructions(GetParam(), path)) {
      EXPECT_FALSE(in.mnemonic.rfind("vrcp", 0) == 0 || in.mnemonic.rfind("vrsqrt", 0) == 0) << in.symbol << ": " << in.text;
    }
  }
}

TEST_P(Objects, SymbolsAreFunctionsWithASizeAndAnEndbr64) {
  std::set<std::string> seen;
  for (const std::string& path : built_objects(GetParam())) {
    const ObjectFile file = read_elf(path);
    for (const char* note : {".note.GNU-stack", ".note.gnu.property"}) EXPECT_TRUE(file.section(note)) << path << " lacks " << note;
    for (const ObjectSymbol& s : file.symbols) {
      if (!s.global || s.section.empty()) continue;
      seen.insert(s.name);
      EXPECT_EQ(s.name.rfind("nyb_", 0), 0u) << s.name;
      EXPECT_TRUE(s.function) << s.name;
      EXPECT_GT(s.size, 4u) << s.name;
      EXPECT_EQ(s.value % 64, 0u) << s.name << " does not start a cache line";
      std::string suffix = "_" + s.section.substr(s.section.rfind('.') + 1);
      if (std::string(GetParam()) == "ms") suffix += "_ms";
      EXPECT_TRUE(s.name.size() > suffix.size() && s.name.compare(s.name.size() - suffix.size(), suffix.size(), suffix) == 0)
          << s.name << " lies in " << s.section;
      const auto& code = file.section(s.section)->bytes;
      ASSERT_LE(s.value + s.size, code.size()) << s.name;
      const uint8_t endbr64[4] = {0xF3, 0x0F, 0x1E, 0xFA};
      EXPECT_TRUE(std::equal(endbr64, endbr64 + 4, code.begin() + long(s.value))) << s.name << " does not begin with endbr64";
    }
  }
  for (const KernelForms& k : kernel_forms()) {  // and nothing is listed that is not there, nor the reverse
    for (const Path p : all_paths) {
      if (k.body[size_t(p)] != p || p == Path::ref) continue;
      const std::string name =
          "nyb_" + std::string(k.name) + "_" + std::string(path_name(p)) + (std::string(GetParam()) == "ms" ? "_ms" : "");
      EXPECT_EQ(seen.erase(name), 1u) << name << " is not in the objects";
    }
  }
  for (const std::string& name : seen) ADD_FAILURE() << name << " is assembled, but kernels.def does not list it";
}

TEST(Unwind, EveryByteOfEveryKernelIsCovered) {
  std::map<std::string, uint64_t> size;
  for (const std::string& path : built_objects("elf")) {
    for (const ObjectSymbol& s : read_elf(path).symbols) size[s.name] = s.size;
  }
  for (const KernelForms& k : kernel_forms()) {
    for (const Path p : all_paths) {
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
