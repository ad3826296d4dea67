// utf8.cpp - which bytes are one character, by the Unicode standard's table 3-7.
#include "text/utf8.h"

#include <cstdint>

#include "kern/utf8_point.h"

namespace nyb {
namespace {

// Table 3-7 of the Unicode standard: what may follow a first byte.
struct Lead {
  size_t length;            // of the character; 0: no character begins with this byte
  unsigned char low, high;  // bounds of the second byte
};

Lead lead_of(unsigned char b) {
  if (b < 0x80) return {1, 0, 0};
  if (b < 0xc2) return {0, 0, 0};  // a continuation, or an over-long form of ASCII
  if (b < 0xe0) return {2, 0x80, 0xbf};
  if (b == 0xe0) return {3, 0xa0, 0xbf};  // below: over-long
  if (b == 0xed) return {3, 0x80, 0x9f};  // above: surrogates
  if (b < 0xf0) return {3, 0x80, 0xbf};
  if (b == 0xf0) return {4, 0x90, 0xbf};  // below: over-long
  if (b < 0xf4) return {4, 0x80, 0xbf};
  if (b == 0xf4) return {4, 0x80, 0x8f};  // above: beyond U+10FFFF
  return {0, 0, 0};
}

// How many bytes of `s` belong to one character or the beginning of one; `whole`: all of it is there. At least 1.
size_t scan(std::string_view s, bool& whole) {
  const Lead lead = lead_of(static_cast<unsigned char>(s[0]));
  whole = lead.length == 1;
  if (lead.length < 2) return 1;
  size_t n = 1;
  while (n < lead.length && n < s.size()) {
    const auto b = static_cast<unsigned char>(s[n]);
    if (n == 1 ? b < lead.low || b > lead.high : (b & 0xc0) != 0x80) return n;
    ++n;
  }
  whole = n == lead.length;
  return n;
}

// Unchanged since Unicode 6.3.
bool is_white_space(uint32_t c) {
  return (c >= 0x09 && c <= 0x0d) || c == 0x20 || c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) ||
         c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

}  // namespace

size_t utf8_valid_prefix(std::string_view s) {
  size_t at = 0;
  bool whole = true;
  while (at < s.size()) {
    const size_t n = scan(s.substr(at), whole);
    if (!whole) break;
    at += n;
  }
  return at;
}

bool utf8_valid(std::string_view s) { return utf8_valid_prefix(s) == s.size(); }

size_t utf8_ill_formed(std::string_view s) {
  bool whole = false;
  return scan(s, whole);
}

size_t white_space_prefix(std::string_view s) {
  size_t n = 0;
  while (n < s.size()) {
    const Utf8Point p = utf8_point(s.substr(n));
    if (p.bytes == 0 || !is_white_space(p.code)) break;
    n += p.bytes;
  }
  return n;
}

size_t white_space_suffix(std::string_view s) {
  size_t end = s.size();
  while (end > 0) {
    size_t at = end - 1;
    while (at > 0 && end - at < 3 && (s[at] & 0xc0) == 0x80) --at;  // none of them has more than three bytes
    const Utf8Point p = utf8_point(s.substr(at, end - at));
    if (p.bytes != end - at || !is_white_space(p.code)) break;
    end = at;
  }
  return s.size() - end;
}

bool utf8_is_beginning(std::string_view s) {
  if (s.empty() || lead_of(static_cast<unsigned char>(s[0])).length < 2) return false;
  bool whole = false;
  return scan(s, whole) == s.size() && !whole;
}

std::string Utf8Stream::push(std::string_view bytes) {
  pending_ += bytes;
  std::string_view rest = pending_;
  std::string out;
  while (!rest.empty()) {
    const size_t run = utf8_valid_prefix(rest);
    out += rest.substr(0, run);
    rest.remove_prefix(run);
    if (rest.empty() || utf8_is_beginning(rest)) break;
    out += kUtf8Replacement;
    rest.remove_prefix(utf8_ill_formed(rest));
  }
  pending_ = std::string(rest);
  return out;
}

std::string Utf8Stream::flush() {
  const bool some = !pending_.empty();
  pending_.clear();
  return some ? std::string(kUtf8Replacement) : std::string();
}

}  // namespace nyb
