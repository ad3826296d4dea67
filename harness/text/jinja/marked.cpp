// marked.cpp - parts of texts, their origins kept.
#include "text/jinja/marked.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "text/utf8.h"

namespace nyb::jinja {

void Marked::add(std::string_view text, Origin origin, size_t offset) {
  if (text.empty()) return;
  if (origin == 0) offset = 0;
  const size_t begin = runs_.size() < 2 ? 0 : runs_[runs_.size() - 2].end;
  const bool goes_on = !runs_.empty() && runs_.back().origin == origin &&
                       (origin == 0 || (offset == kChanged ? runs_.back().offset == kChanged
                                                           : runs_.back().offset != kChanged &&
                                                                 runs_.back().offset + (runs_.back().end - begin) == offset));
  text_ += text;
  if (goes_on) {
    runs_.back().end = text_.size();
  } else {
    runs_.push_back({text_.size(), origin, offset});
  }
}

void Marked::add(const Marked& more, size_t from, size_t count) {
  const size_t to = from + count;
  auto run = std::upper_bound(more.runs_.begin(), more.runs_.end(), from, [](size_t at, const Run& r) { return at < r.end; });
  size_t begin = run == more.runs_.begin() ? 0 : std::prev(run)->end;
  for (; from < to; ++run) {
    const size_t end = std::min(run->end, to);
    const size_t offset = run->origin == 0 || run->offset == kChanged ? run->offset : run->offset + (from - begin);
    add(std::string_view(more.text_).substr(from, end - from), run->origin, offset);
    begin = run->end;
    from = end;
  }
}

void Marked::cut(size_t size) {
  text_.resize(size);
  while (!runs_.empty() && (runs_.size() > 1 ? runs_[runs_.size() - 2].end : 0) >= size) runs_.pop_back();
  if (!runs_.empty()) runs_.back().end = size;
}

Marked Marked::sub(size_t from, size_t count) const {
  Marked out;
  out.add(*this, from, count);
  return out;
}

size_t char_size(std::string_view s, size_t at) {
  const auto lead = static_cast<unsigned char>(s[at]);
  const size_t n = lead < 0xc0 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  return n > 1 && utf8_valid_prefix(s.substr(at, n)) == n ? n : 1;
}

bool space_at(std::string_view s, size_t at, size_t& size) {
  size = char_size(s, at);
  const std::string_view c = s.substr(at, size);
  if (size == 1) return c == " " || (c[0] >= '\t' && c[0] <= '\r');
  constexpr std::string_view others[] = {"\u00a0", "\u1680", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000", "\ufeff"};
  return (c >= "\u2000" && c <= "\u200a") || std::find(std::begin(others), std::end(others), c) != std::end(others);
}

size_t skip_space(std::string_view s, size_t from) {
  for (size_t n = 0; from < s.size() && space_at(s, from, n);) from += n;
  return from;
}

size_t before_space(std::string_view s) {
  size_t end = s.size();
  while (end > 0) {
    size_t at = end - 1, n = 0;
    while (at > 0 && end - at < 4 && (s[at] & 0xc0) == 0x80) --at;
    if (at + char_size(s, at) != end) at = end - 1;
    if (!space_at(s, at, n)) break;
    end = at;
  }
  return end;
}

size_t find_text(std::string_view hay, std::string_view needle, size_t from) {
  if (from > hay.size()) return std::string_view::npos;
  const void* at = memmem(hay.data() + from, hay.size() - from, needle.data(), needle.size());
  return at ? static_cast<size_t>(static_cast<const char*>(at) - hay.data()) : std::string_view::npos;
}

}  // namespace nyb::jinja
