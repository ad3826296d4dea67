// utf8_point.h - the character that a text begins with.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace nyb {

struct Utf8Point {
  uint32_t code = 0;
  size_t bytes = 0;  // 0: the text does not begin with a whole character (Unicode 15, table 3-7)
};

// `s` is not empty.
inline Utf8Point utf8_point(std::string_view s) {
  const auto at = [s](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(s[i])); };
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

}  // namespace nyb
