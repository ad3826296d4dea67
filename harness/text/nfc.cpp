// nfc.cpp - utf8proc decomposes and composes; the order of marks is sorted here, for utf8proc's takes quadratic time on long runs
// of them.
#include "text/nfc.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include "kern/utf8_point.h"
#include "text/utf8.h"

namespace nyb {
namespace {

// Below U+0300 every character is its own NFC, has class 0 and joins nothing before it. Those are the lead bytes below 0xCC.
constexpr unsigned char kFirstLead = 0xcc;

bool is_lead(char c) { return static_cast<unsigned char>(c) >= kFirstLead; }
bool continues(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

int mark_class(utf8proc_int32_t c) { return utf8proc_get_property(c)->combining_class; }

// Valid UTF-8, from a character that joins nothing before it to one like it.
void append_normal(std::string_view text, std::string& out) {
  constexpr auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE);
  std::vector<utf8proc_int32_t> points;
  points.reserve(text.size());
  while (!text.empty()) {
    const Utf8Point p = utf8_point(text);
    std::array<utf8proc_int32_t, 32> parts{};
    const auto n = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(p.code), parts.data(), parts.size(), options, nullptr);
    if (n < 0 || static_cast<size_t>(n) > parts.size()) throw std::bad_alloc();  // no character has more than four
    points.insert(points.end(), parts.begin(), parts.begin() + n);
    text.remove_prefix(p.bytes);
  }
  for (auto from = points.begin(); from != points.end();) {
    const auto to = std::find_if(from, points.end(), [](utf8proc_int32_t c) { return mark_class(c) == 0; });
    std::stable_sort(from, to, [](utf8proc_int32_t a, utf8proc_int32_t b) { return mark_class(a) < mark_class(b); });
    from = to == points.end() ? to : to + 1;
  }
  const auto count = utf8proc_normalize_utf32(points.data(), static_cast<utf8proc_ssize_t>(points.size()), options);
  for (utf8proc_ssize_t i = 0; i < count; ++i) {
    std::array<utf8proc_uint8_t, 4> bytes{};
    const auto n = utf8proc_encode_char(points[static_cast<size_t>(i)], bytes.data());
    out.append(reinterpret_cast<const char*>(bytes.data()), static_cast<size_t>(n));
  }
}

void append_run(std::string_view run, std::string& out) {
  for (size_t i = 0; i < run.size();) {
    size_t from = i;
    while (from < run.size() && !is_lead(run[from])) ++from;
    size_t to = from;
    while (to < run.size() && (is_lead(run[to]) || continues(run[to]))) ++to;
    // the character before may take a mark
    if (from < run.size() && from > i) {
      do { --from; } while (from > i && continues(run[from]));
    }
    out += run.substr(i, from - i);
    append_normal(run.substr(from, to - from), out);
    i = to;
  }
}

}  // namespace

std::string nfc(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t run = utf8_valid_prefix(text);
    append_run(text.substr(0, run), out);
    text.remove_prefix(run);
    if (text.empty()) break;
    const size_t bad = utf8_ill_formed(text);
    out += text.substr(0, bad);
    text.remove_prefix(bad);
  }
  return out;
}

}  // namespace nyb
