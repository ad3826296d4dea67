#include "kern/objects.h"

#include <elf.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>

namespace nyb::test {
namespace {

std::string load(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path);
  std::ostringstream s;
  s << in.rdbuf();
  return s.str();
}

template <class T>
T get(const std::string& file, uint64_t at) {
  T v;
  if (at > file.size() || file.size() - at < sizeof v) throw std::runtime_error("an object file ends early");
  memcpy(&v, file.data() + at, sizeof v);
  return v;
}

std::string text_at(const std::string& file, uint64_t at) {
  const size_t end = file.find('\0', at);
  if (end == std::string::npos) throw std::runtime_error("an object file's string does not end");
  return file.substr(at, end - at);
}

std::vector<uint8_t> bytes_at(const std::string& file, uint64_t at, uint64_t n) {
  if (at > file.size() || file.size() - at < n) throw std::runtime_error("an object file ends early");
  return {file.begin() + long(at), file.begin() + long(at + n)};
}

}  // namespace

const ObjectSection* ObjectFile::section(const std::string& name) const {
  for (const ObjectSection& s : sections) {
    if (s.name == name) return &s;
  }
  return nullptr;
}

ObjectFile read_elf(const std::string& path) {
  const std::string file = load(path);
  const auto header = get<Elf64_Ehdr>(file, 0);
  if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_machine != EM_X86_64) throw std::runtime_error(path + " is not ELF");
  std::vector<Elf64_Shdr> headers;
  for (size_t i = 0; i < header.e_shnum; i++) headers.push_back(get<Elf64_Shdr>(file, header.e_shoff + i * sizeof(Elf64_Shdr)));
  ObjectFile out{path, {}, {}};
  for (const Elf64_Shdr& h : headers) {
    out.sections.push_back({text_at(file, headers.at(header.e_shstrndx).sh_offset + h.sh_name), {}, {}});
    if (h.sh_type != SHT_NOBITS) out.sections.back().bytes = bytes_at(file, h.sh_offset, h.sh_size);
  }
  for (const Elf64_Shdr& h : headers) {
    if (h.sh_type != SHT_SYMTAB) continue;
    for (uint64_t at = 0; at < h.sh_size; at += sizeof(Elf64_Sym)) {
      const auto s = get<Elf64_Sym>(file, h.sh_offset + at);
      const bool here = s.st_shndx != SHN_UNDEF && s.st_shndx < out.sections.size();
      out.symbols.push_back({text_at(file, headers.at(h.sh_link).sh_offset + s.st_name), here ? out.sections[s.st_shndx].name : "",
                             s.st_value, s.st_size, ELF64_ST_TYPE(s.st_info) == STT_FUNC, ELF64_ST_BIND(s.st_info) == STB_GLOBAL});
    }
  }
  return out;
}

ObjectFile read_coff(const std::string& path) {
  const std::string file = load(path);
  if (get<uint16_t>(file, 0) != 0x8664) throw std::runtime_error(path + " is not an object for Windows on x86-64");
  const auto nsections = get<uint16_t>(file, 2), optional = get<uint16_t>(file, 16);
  const auto symtab = get<uint32_t>(file, 8), nsymbols = get<uint32_t>(file, 12);
  const uint64_t strings = symtab + uint64_t(18) * nsymbols;
  struct Symbol {
    std::string name;
    uint32_t value;
    int16_t section;
    uint8_t storage;
  };
  std::vector<Symbol> symbols(nsymbols);
  for (uint32_t i = 0; i < nsymbols; i++) {
    const uint64_t at = symtab + uint64_t(18) * i;
    Symbol& s = symbols[i];
    s.name = get<uint32_t>(file, at) ? std::string(file.data() + at, strnlen(file.data() + at, 8))
                                     : text_at(file, strings + get<uint32_t>(file, at + 4));
    s.value = get<uint32_t>(file, at + 8);
    s.section = get<int16_t>(file, at + 12);
    s.storage = get<uint8_t>(file, at + 16);
    i += get<uint8_t>(file, at + 17);
  }
  ObjectFile out{path, {}, {}};
  for (uint64_t i = 0; i < nsections; i++) {
    const uint64_t at = 20 + optional + 40 * i;
    ObjectSection s{std::string(file.data() + at, strnlen(file.data() + at, 8)), {}, {}};
    s.bytes = bytes_at(file, get<uint32_t>(file, at + 20), get<uint32_t>(file, at + 16));
    const auto relocations = get<uint32_t>(file, at + 24);
    for (uint64_t r = 0; r < get<uint16_t>(file, at + 32); r++) {
      const Symbol& to = symbols.at(get<uint32_t>(file, relocations + 10 * r + 4));
      s.relocations.push_back({get<uint32_t>(file, relocations + 10 * r), to.name, to.value, to.section - 1});
    }
    out.sections.push_back(std::move(s));
  }
  for (const Symbol& s : symbols) {
    const bool here = s.section > 0 && size_t(s.section) <= out.sections.size();
    out.symbols.push_back({s.name, here ? out.sections[size_t(s.section) - 1].name : "", s.value, 0, false, s.storage == 2});
  }
  return out;
}

std::vector<Instruction> disassemble(const std::string& path, const std::string& section) {
  const std::string command = "objdump -D -w -j " + section + " '" + path + "' 2>/dev/null";
  const auto close = [](FILE* f) { pclose(f); };
  const std::unique_ptr<FILE, decltype(close)> pipe(popen(command.c_str(), "r"), close);
  std::vector<Instruction> out;
  std::string symbol;
  bool any = false;
  char line[4096];
  while (pipe && fgets(line, sizeof line, pipe.get())) {
    any = true;
    const std::string s(line);
    const size_t name = s.find(" <"), end = s.find(">:");
    if (name != std::string::npos && end != std::string::npos && s[0] == '0') {
      symbol = s.substr(name + 2, end - name - 2);
      continue;
    }
    const size_t tab = s.find(":\t");
    if (tab == std::string::npos) continue;
    Instruction in{symbol, std::stoull(s, nullptr, 16), {}, {}, {}};
    const size_t text = s.find('\t', tab + 2);
    std::istringstream raw(s.substr(tab + 2, text == std::string::npos ? text : text - tab - 2));
    for (std::string byte; raw >> byte;) in.bytes.push_back(uint8_t(std::stoul(byte, nullptr, 16)));
    if (text != std::string::npos) in.text = s.substr(text + 1, s.size() - text - 2);
    std::istringstream words(in.text);
    while (words >> in.mnemonic && (in.mnemonic[0] == '{' || in.mnemonic == "rep" || in.mnemonic == "lock")) {}
    out.push_back(std::move(in));
  }
  if (!any)
    throw std::runtime_error("objdump gave nothing for " + path + ": these tests need it (Debian: apt-get install binutils)");
  return out;
}

std::vector<std::string> built_objects(const std::string& kind) {
  std::istringstream list(load((std::filesystem::path(NYB_BINARY_DIR) / "tests" / ("objects-" + kind + ".txt")).string()));
  std::vector<std::string> out;
  for (std::string line; std::getline(list, line);) {
    if (!line.empty()) out.push_back(line);
  }
  return out;
}

}  // namespace nyb::test
