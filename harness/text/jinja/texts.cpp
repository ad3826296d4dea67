// texts.cpp - texts changed, cut and put together.
#include "text/jinja/texts.h"

#include <utf8proc.h>

#include <algorithm>
#include <utility>

namespace nyb::jinja {
namespace {

std::string changed(std::string_view c, utf8proc_int32_t (*to)(utf8proc_int32_t)) {
  if (c == "\u00df" && to == utf8proc_toupper) return "SS";
  utf8proc_int32_t code = 0;
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(c.data());
  if (utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(c.size()), &code) < 0) return std::string(c);
  utf8proc_uint8_t out[4];
  const utf8proc_ssize_t n = utf8proc_encode_char(to(code), out);
  return {reinterpret_cast<const char*>(out), static_cast<size_t>(n)};
}

bool is_word(std::string_view c) {
  return c.size() == 1 && (c[0] == '_' || (c[0] >= '0' && c[0] <= '9') || ((c[0] | 0x20) >= 'a' && (c[0] | 0x20) <= 'z'));
}

}  // namespace

Marked upper(const Marked& s) {
  return s.mapped([](std::string_view c) { return changed(c, utf8proc_toupper); });
}

Marked lower(const Marked& s) {
  return s.mapped([](std::string_view c) { return changed(c, utf8proc_tolower); });
}

Marked title(const Marked& s) {
  bool within = false;
  return s.mapped([&](std::string_view c) {
    const bool first = !within && is_word(c);
    within = is_word(c);
    return first ? changed(c, utf8proc_toupper) : std::string(c);
  });
}

Marked capital(const Marked& s) {
  bool first = true;
  return s.mapped([&](std::string_view c) { return std::exchange(first, false) ? changed(c, utf8proc_toupper) : std::string(c); });
}

Marked trimmed(const Marked& s, bool left, bool right) {
  const size_t from = left ? skip_space(s.str()) : 0;
  const size_t to = right ? before_space(s.str()) : s.size();
  return from < to ? s.sub(from, to - from) : Marked();
}

Marked replaced(Heap& h, const Marked& s, const Marked& what, const Marked& with, std::optional<long> most) {
  Marked out;
  size_t from = 0, at = 0;
  for (long n = 0; at <= s.size() && (!most || *most < 0 || n < *most); ++n) {
    at = find_text(s.str(), what.str(), at);
    if (at == std::string::npos) break;
    h.spend_text(with.size());
    out.add(s, from, at - from);
    out.add(with);
    from = at + what.size();
    at = what.empty() ? (at < s.size() ? at + char_size(s.str(), at) : at + 1) : from;
  }
  out.add(s, from, s.size() - from);
  return out;
}

Marked indented(Heap& h, const Marked& s, size_t width, bool first, bool blank) {
  Marked out;
  for (size_t from = 0; from <= s.size();) {
    const size_t end = std::min(s.str().find('\n', from), s.size());
    if ((from > 0 || first) && (end > from || blank)) {
      h.spend_text(width);
      out.add(std::string(width, ' '));
    }
    out.add(s, from, std::min(end + 1, s.size()) - from);
    from = end + 1;
  }
  return out;
}

std::vector<Value> split(Heap& h, const Marked& s, const Marked* at, std::optional<long> most) {
  std::vector<Value> out;
  const auto full = [&] { return most && *most >= 0 && out.size() >= static_cast<size_t>(*most); };
  const auto add = [&](size_t from, size_t to) { out.push_back(h.text(s.sub(from, to - from))); };
  size_t from = at ? 0 : skip_space(s.str());
  while (at && !full()) {
    const size_t end = find_text(s.str(), at->str(), from);
    if (end == std::string::npos) break;
    add(from, end);
    from = end + at->size();
  }
  while (!at && from < s.size() && !full()) {
    size_t end = from, n = 0;
    while (end < s.size() && !space_at(s.str(), end, n)) end += n;
    add(from, end);
    from = skip_space(s.str(), end);
  }
  if (at || from < s.size()) add(from, s.size());
  return out;
}

}  // namespace nyb::jinja
