// printable.cpp - escapes for what a terminal would obey.
#include "kern/printable.h"

#include <cstdint>

namespace nyb {
namespace {

struct Point {
  uint32_t code = 0;
  size_t bytes = 0;  // 0: not UTF-8
};

// The character that `s` begins with; s is not empty.
Point first_point(std::string_view s) {
  const auto at = [&s](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(s[i])); };
  const uint32_t lead = at(0);
  if (lead < 0x80) return {lead, 1};
  const size_t n = lead >= 0xf8 ? 0 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 0;
  if (n == 0 || s.size() < n) return {};
  uint32_t code = lead & (0x7fu >> n);
  for (size_t i = 1; i < n; i++) {
    if ((at(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (at(i) & 0x3f);
  }
  constexpr uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < least[n] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return {};
  return {code, n};
}

bool obeyed(uint32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0)  // C0, DEL, C1
         || c == 0x200e || c == 0x200f        // marks of direction
         || (c >= 0x2028 && c <= 0x202e)      // separators of lines, embeddings
         || (c >= 0x2066 && c <= 0x2069);     // isolates
}

void escape(std::string& out, std::string_view bytes) {
  constexpr char digits[] = "0123456789abcdef";
  for (const char c : bytes) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else {
      out += "\\x";
      out += digits[u >> 4];
      out += digits[u & 15];
    }
  }
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const Point p = first_point(text);
    const size_t n = p.bytes ? p.bytes : 1;
    if (p.bytes == 0 || obeyed(p.code))
      escape(out, text.substr(0, n));
    else
      out += text.substr(0, n);
    text.remove_prefix(n);
  }
  return out;
}

}  // namespace nyb
