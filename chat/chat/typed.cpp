// typed.cpp - UTF-8 and what is none, as wide characters.
#include "chat/typed.h"
#include <algorithm>
#include <cwchar>
#include "kern/utf8_point.h"
#include "text/utf8.h"

namespace nyb {
namespace {

wchar_t byte_of(char c) { return kByte + static_cast<unsigned char>(c); }

bool key_like(char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7f; }

}  // namespace

size_t typed_front(std::string_view bytes, wchar_t& c) {
  const Utf8Point p = utf8_point(bytes);
  if (p.bytes != 0) {
    c = static_cast<wchar_t>(p.code);
    if (c < 0x80 || c >= 0xa0) return p.bytes;
  } else if (utf8_is_beginning(bytes)) {
    return 0;
  }
  c = byte_of(bytes[0]);
  return 1;
}

std::wstring typed_wide(std::string_view bytes) {
  std::wstring out;
  out.reserve(bytes.size());
  while (!bytes.empty()) {
    wchar_t c = 0;
    size_t n = typed_front(bytes, c);
    if (n == 0 || c == 0) {
      c = byte_of(bytes[0]);
      n = 1;
    }
    out += c;
    bytes.remove_prefix(n);
  }
  return out;
}

std::string typed_bytes(std::wstring_view text) {
  std::string out;
  out.reserve(text.size());
  for (const wchar_t w : text) {
    const auto c = static_cast<char32_t>(w);
    const auto put = [&](char32_t b) { out += static_cast<char>(b); };
    if (c >= kByte && c <= kByte + 0xff) {
      put(c - kByte);
    } else if (c < 0x80) {
      put(c);
    } else if (c < 0x800) {
      put(0xc0 | (c >> 6));
      put(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
      put(0xe0 | (c >> 12));
      put(0x80 | ((c >> 6) & 0x3f));
      put(0x80 | (c & 0x3f));
    } else {
      put(0xf0 | (c >> 18));
      put(0x80 | ((c >> 12) & 0x3f));
      put(0x80 | ((c >> 6) & 0x3f));
      put(0x80 | (c & 0x3f));
    }
  }
  return out;
}

int typed_rows(std::wstring_view text, int indent, int columns) {
  int row = 0, column = indent;
  for (const wchar_t c : text) {
    const int width = c == L'\t' ? 8 - column % 8 : std::max(wcwidth(c), 0);
    if (c == L'\n' || column + width > columns) {
      ++row;
      column = 0;
    }
    column += c == L'\n' ? 0 : width;
  }
  return row + (column >= columns ? 1 : 0);
}

size_t typed_lines(std::string_view keys) {
  size_t end = 0;
  while (end < keys.size() && !key_like(keys[end])) ++end;
  keys = keys.substr(0, end);
  const size_t first = keys.find_first_of("\r\n");
  if (first == std::string_view::npos || first + 1 == keys.size()) return 0;
  if (keys.back() == '\n' || keys.back() == '\r') keys.remove_suffix(1);
  return keys.size();
}

std::string typed_newlines(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\r') {
      out += text[i];
    } else if (i + 1 == text.size() || text[i + 1] != '\n') {
      out += '\n';
    }
  }
  return out;
}

}  // namespace nyb
