// byte_map.cpp - the alphabet of 256 characters and back.
#include "text/byte_map.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace nyb {
namespace {

// Printable Latin-1 bytes stand for themselves; the other 68 follow from U+0100 on, in order.
constexpr bool stands_for_itself(unsigned b) { return (b >= 0x21 && b <= 0x7e) || (b >= 0xa1 && b <= 0xac) || b >= 0xae; }

struct Alphabet {
  std::array<uint16_t, 256> character{};
  std::array<int16_t, 0x144> byte{};  // of a character; -1: none
  Alphabet() {
    byte.fill(-1);
    uint16_t next = 0x100;
    for (unsigned b = 0; b < 256; ++b) {
      character[b] = stands_for_itself(b) ? static_cast<uint16_t>(b) : next++;
      byte[character[b]] = static_cast<int16_t>(b);
    }
  }
};

const Alphabet& alphabet() {
  static const Alphabet a;
  return a;
}

}  // namespace

std::optional<std::string> byte_map_decode(std::string_view spelled) {
  std::string out;
  out.reserve(spelled.size());
  for (size_t i = 0; i < spelled.size();) {
    // The alphabet ends at U+0143, so one and two byte forms are all there is to read.
    unsigned c = static_cast<unsigned char>(spelled[i++]);
    if (c >= 0x80) {
      if (c < 0xc2 || c > 0xc5 || i == spelled.size()) return std::nullopt;
      const unsigned low = static_cast<unsigned char>(spelled[i++]);
      if ((low & 0xc0) != 0x80) return std::nullopt;
      c = (c & 0x1f) << 6 | (low & 0x3f);
    }
    if (c >= alphabet().byte.size() || alphabet().byte[c] < 0) return std::nullopt;
    out += static_cast<char>(alphabet().byte[c]);
  }
  return out;
}

std::string byte_map_encode(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  for (const char b : bytes) {
    const unsigned c = alphabet().character[static_cast<unsigned char>(b)];
    if (c < 0x80) {
      out += static_cast<char>(c);
    } else {
      out += static_cast<char>(0xc0 | c >> 6);
      out += static_cast<char>(0x80 | (c & 0x3f));
    }
  }
  return out;
}

}  // namespace nyb
