// objects.h - what the tests read of assembled objects: ELF and COFF files, and their disassembly by objdump.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace nyb::test {

struct ObjectSymbol {
  std::string name;
  std::string section;
  uint64_t value, size;  // size 0 in COFF
  bool function, global;
};
struct ObjectRelocation {
  uint64_t at;
  std::string symbol;  // of COFF, its name; a section's symbol has the section's name
  uint64_t symbol_value;
  int symbol_section;  // index in `sections`; -1: not in this file
};
struct ObjectSection {
  std::string name;
  std::vector<uint8_t> bytes;
  std::vector<ObjectRelocation> relocations;  // read of COFF only
};
struct ObjectFile {
  std::string path;
  std::vector<ObjectSection> sections;
  std::vector<ObjectSymbol> symbols;
  const ObjectSection* section(const std::string& name) const;  // null: none
};
// Both throw std::runtime_error where the file is not of that form.
ObjectFile read_elf(const std::string& path);
ObjectFile read_coff(const std::string& path);

struct Instruction {
  std::string symbol;  // of the kernel
  uint64_t offset;
  std::vector<uint8_t> bytes;
  std::string text;
  std::string mnemonic;  // without prefixes such as {vex}
};
// One section through `objdump -D`. Throws with one sentence where there is no objdump.
std::vector<Instruction> disassemble(const std::string& path, const std::string& section);

// Why an instruction may not stand in a path's section, in one word and a text; empty: it may.
//   evex, opmask (avx512 alone has them), dot (a dot instruction of another path), feature (a CPUID bit that macros/isa.inc does
//   not name for the path), approximate (vrcpps and its kin: other bits on other makers' CPUs), undecodable
std::string refused(const Instruction& in, const std::string& path);
// What is wrong with the global symbols of an object of kernels, each as "name: size", "name: type", "name: endbr64", "name:
// section", "name: alignment". `suffix` follows the path in their names: "" or "_ms".
std::vector<std::string> bad_symbols(const ObjectFile& file, const std::string& suffix);

// The objects of this build: "elf", "ms", "win64"; "insns", those of emu_insns.asm, vex_insns.asm and bad_objects.asm.
std::vector<std::string> built_objects(const std::string& kind);

}  // namespace nyb::test
