// printable.cpp - escapes for what a terminal would obey.
#include "kern/printable.h"

#include "kern/utf8_point.h"

namespace nyb {
namespace {

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
    const Utf8Point p = utf8_point(text);
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
