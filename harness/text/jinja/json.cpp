// json.cpp - values as JSON, as Python's json.dumps spaces it.
#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "text/jinja/value.h"

namespace nyb::jinja {
namespace {

constexpr size_t kMostDepth = 100;  // of values within each other; a namespace may even hold itself

std::string unicode_escape(uint32_t c) {
  if (c < 0x10000) return fmt::format("\\u{:04x}", c);
  c -= 0x10000;
  return fmt::format("\\u{:04x}\\u{:04x}", 0xd800 + (c >> 10), 0xdc00 + (c & 0x3ff));
}

std::string escaped(std::string_view c, bool ascii) {
  constexpr std::string_view marks = "\"\\\b\f\n\r\t", names = "\"\\bfnrt";
  if (c.size() > 1) {
    utf8proc_int32_t code = 0;
    utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(c.data()), static_cast<utf8proc_ssize_t>(c.size()), &code);
    return ascii ? unicode_escape(static_cast<uint32_t>(code)) : std::string(c);
  }
  if (const size_t i = marks.find(c[0]); i != marks.npos) return {'\\', names[i]};
  const auto byte = static_cast<unsigned char>(c[0]);
  return byte < 0x20 || (ascii && byte >= 0x7f) ? unicode_escape(byte) : std::string(c);
}

class Writer {
 public:
  Writer(Heap& h, const JsonStyle& style) : h_(h), style_(style) {}

  void value(const Value& v, size_t depth) {
    h_.spend(1);
    if (depth > kMostDepth) h_.fail(fmt::format("a value with more than {} others within each other becomes no JSON", kMostDepth));
    if (const Marked* t = text_of(v)) return string(*t);
    if (const bool* b = std::get_if<bool>(&v)) return out_.add(*b ? "true" : "false");
    if (const Number* n = number_of(v)) return out_.add(std::isfinite(n->value) ? number_text(n->value) : "null");
    if (const Array* a = array_of(v)) return array(*a, depth);
    if (Dict* d = dict_of(v)) return dict(*d, depth);
    if (!is_none(v) && !is_undefined(v)) h_.fail(fmt::format("{} becomes no JSON", kind_of(v)));
    out_.add("null");
  }

  Marked take() { return std::move(out_); }

 private:
  void string(const Marked& t) {
    h_.spend_text(2 * t.size());
    out_.add("\"");
    out_.add(t.mapped([&](std::string_view c) { return escaped(c, style_.ascii); }));
    out_.add("\"");
  }

  void line(size_t depth) {
    if (style_.indent == 0) return;
    h_.spend_text(style_.indent * depth);
    out_.add("\n" + std::string(style_.indent * depth, ' '));
  }

  void separate(bool first, size_t depth) {
    if (!first) {
      h_.spend_text(style_.between.size());
      out_.add(style_.between);
    }
    line(depth + 1);
  }

  void array(const Array& a, size_t depth) {
    out_.add("[");
    for (size_t i = 0; i < a.items.size(); ++i) {
      separate(i == 0, depth);
      value(a.items[i], depth + 1);
    }
    if (!a.items.empty()) line(depth);
    out_.add("]");
  }

  void dict(const Dict& d, size_t depth) {
    std::vector<size_t> order(d.members.size());
    std::iota(order.begin(), order.end(), size_t{0});
    if (style_.sorted) {
      h_.spend(8 * order.size());
      std::sort(order.begin(), order.end(),
                [&](size_t a, size_t b) { return d.members[a].first.str() < d.members[b].first.str(); });
    }
    out_.add("{");
    for (size_t i = 0; i < order.size(); ++i) {
      separate(i == 0, depth);
      string(d.members[order[i]].first);
      h_.spend_text(style_.colon.size());
      out_.add(style_.colon);
      value(d.members[order[i]].second, depth + 1);
    }
    if (!order.empty()) line(depth);
    out_.add("}");
  }

  Heap& h_;
  const JsonStyle& style_;
  Marked out_;
};

}  // namespace

Marked json(Heap& h, const Value& v, const JsonStyle& style) {
  Writer w(h, style);
  w.value(v, 0);
  return w.take();
}

}  // namespace nyb::jinja
