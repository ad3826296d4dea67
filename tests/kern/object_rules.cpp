#include <algorithm>
#include <set>

#include "kern/objects.h"
#include "support/vnni_emu.h"

namespace nyb::test {
namespace {

bool starts(const std::string& s, const char* with) { return s.rfind(with, 0) == 0; }

bool names_avx512_registers(const std::string& text) {
  if (text.find("%zmm") != std::string::npos) return true;
  const size_t k = text.find("%k");
  return k != std::string::npos && k + 2 < text.size() && text[k + 2] >= '0' && text[k + 2] <= '7';
}

// BMI, LZCNT, POPCNT, MOVBE, ADX, CRC32, AES, GFNI and the AVX-512 sets that macros/isa.inc does not list.
bool beyond_detected(const std::string& m) {
  static const std::set<std::string> names = {
      "andn",        "bextr",     "blsi",      "blsr",           "blsmsk",     "bzhi",      "mulx",      "pdep",
      "pext",        "rorx",      "sarx",      "shlx",           "shrx",       "tzcnt",     "lzcnt",     "popcnt",
      "movbe",       "adcx",      "adox",      "crc32",          "vpermb",     "vpermi2b",  "vpermt2b",  "vpcompressb",
      "vpcompressw", "vpexpandb", "vpexpandw", "vpopcntb",       "vpopcntw",   "vpopcntd",  "vpopcntq",  "vpconflictd",
      "vpconflictq", "vplzcntd",  "vplzcntq",  "vpmultishiftqb", "vpclmulqdq", "pclmulqdq", "vdpbf16ps", "vpshufbitqmb",
      "vpdpwssd",    "vpdpwssds", "prefetchw", "prefetchwt1"};
  if (names.count(m)) return true;
  static const char* const families[] = {"vaes",   "vgf2p8", "vpmadd52", "vpshld",   "vpshrd",      "vbcst",
                                         "vcvtne", "vexp2",  "vrcp28",   "vrsqrt28", "vp2intersect"};
  return std::any_of(std::begin(families), std::end(families), [&](const char* f) { return starts(m, f); });
}

}  // namespace

std::string refused(const Instruction& in, const std::string& path) {
  if (in.bytes.empty() || in.text.find("(bad)") != std::string::npos) return "undecodable: " + in.text;
  const bool avx512 = path == "avx512";
  if (!avx512 && in.bytes[0] == 0x62) return "evex: " + in.text;  // the byte is nothing else in 64-bit mode
  if (!avx512 && names_avx512_registers(in.text)) return "opmask: " + in.text;
  uint8_t bytes[16] = {};
  std::copy_n(in.bytes.begin(), std::min<size_t>(in.bytes.size(), 15), bytes);
  const uint64_t gpr[16] = {};
  vnni::Insn dot;
  if (vnni::decode(bytes, gpr, 0, dot)) {  // by the bytes: not every objdump knows them
    const bool mine =
        (path == "vnni" && dot.op == vnni::BUSD) || (path == "vnni8" && (dot.op == vnni::BUSD || dot.op == vnni::BSSD));
    return mine ? "" : "dot: " + in.text;
  }
  if (beyond_detected(in.mnemonic)) return "feature: " + in.text;
  if (starts(in.mnemonic, "vrcp") || starts(in.mnemonic, "vrsqrt")) return "approximate: " + in.text;
  return {};
}

std::vector<std::string> bad_symbols(const ObjectFile& file, const std::string& suffix) {
  std::vector<std::string> out;
  for (const ObjectSymbol& s : file.symbols) {
    if (!s.global || s.section.empty()) continue;
    const std::string ending = "_" + s.section.substr(s.section.rfind('.') + 1) + suffix;
    const bool fits = s.name.size() > ending.size() && s.name.compare(s.name.size() - ending.size(), ending.size(), ending) == 0;
    if (!fits || !starts(s.name, "nyb_")) out.push_back(s.name + ": section");
    if (!s.function) out.push_back(s.name + ": type");
    if (s.size <= 4) out.push_back(s.name + ": size");
    if (s.value % 64) out.push_back(s.name + ": alignment");
    const auto& code = file.section(s.section)->bytes;
    static const uint8_t endbr64[4] = {0xF3, 0x0F, 0x1E, 0xFA};
    const bool marked = s.value + 4 <= code.size() && std::equal(endbr64, endbr64 + 4, code.begin() + long(s.value));
    if (!marked) out.push_back(s.name + ": endbr64");
  }
  return out;
}

}  // namespace nyb::test
