// filters.cpp - what {{ value | filter }} does.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "text/jinja/interp.h"
#include "text/jinja/lexer.h"
#include "text/jinja/lists.h"
#include "text/jinja/texts.h"

namespace nyb::jinja {
namespace {

using Filter = Value (*)(Interp&, const Value&, const Args&);

// UTF-16 units, as the reference counts.
size_t units(std::string_view s) {
  size_t n = 0;
  for (size_t i = 0; i < s.size();) {
    const size_t bytes = char_size(s, i);
    n += bytes == 4 ? 2 : 1;
    i += bytes;
  }
  return n;
}

[[noreturn]] void refuse(Interp& in, const char* filter, const Value& v) {
  in.h.fail(fmt::format("the filter \"{}\" is not for {}", filter, kind_of(v)));
}

const Marked& text_for(Interp& in, const char* filter, const Value& v) {
  const Marked* t = text_of(v);
  if (!t) refuse(in, filter, v);
  in.h.spend_text(t->size());
  return *t;
}

template <Marked (*kChange)(const Marked&)>
Value change(Interp& in, const char* filter, const Value& v) {
  return in.h.text(kChange(text_for(in, filter, v)));
}

Value tojson(Interp& in, const Value& v, const Args& args) {
  JsonStyle style;
  style.indent = static_cast<size_t>(std::max(0L, in.whole_number(args.find("indent"), "indent").value_or(0)));
  style.ascii = in.flag(args.find("ensure_ascii"), false, "ensure_ascii");
  style.sorted = in.flag(args.find("sort_keys"), false, "sort_keys");
  if (style.indent > 0) style.between = Marked(",");
  if (const Value* s = args.find("separators"); s && !is_none(*s)) {
    const Array* both = array_of(*s);
    if (!both || both->items.size() != 2) in.h.fail("separators are two texts");
    style.between = in.text(&both->items[0], "a separator");
    style.colon = in.text(&both->items[1], "a separator");
  }
  return in.h.text(json(in.h, v, style));
}

Value length(Interp& in, const Value& v, const Args&) {
  if (const Array* a = array_of(v)) return whole(static_cast<double>(a->items.size()));
  if (const Dict* d = dict_of(v); d && !d->is_namespace) return whole(static_cast<double>(d->members.size()));
  return whole(static_cast<double>(units(text_for(in, "length", v).str())));
}

Value string(Interp& in, const Value& v, const Args&) {
  if (is_undefined(v) || is_none(v)) refuse(in, "string", v);
  return in.h.text(printed(in.h, v));
}

Value fallback(Interp& in, const Value& v, const Args& args) {
  const Value* other = args.find(0, "default_value");
  const bool also_false = in.flag(args.find(1, "boolean"), false, "the second argument of \"default\"");
  if (!is_undefined(v) && (!also_false || truth(v))) return v;
  return other ? *other : in.h.text("");
}

// The digits that a text begins with, as JavaScript's parseInt and parseFloat read them.
std::optional<double> number_at(const Marked& t, bool is_whole) {
  size_t from = skip_space(t.str());
  if (from < t.size() && t.str()[from] == '+') ++from;
  const char *begin = t.str().data() + from, *end = t.str().data() + t.size();
  if (is_whole)
    end = std::find_if(begin, end, [&](const char& c) { return !(c >= '0' && c <= '9') && !(c == '-' && &c == begin); });
  double v = 0;
  if (std::from_chars(begin, end, v).ec != std::errc() || !std::isfinite(v)) return std::nullopt;
  return v;
}

Value number(Interp& in, const Value& v, const Args& args, bool is_whole) {
  const char* name = is_whole ? "int" : "float";
  if (const bool* b = std::get_if<bool>(&v)) return Number{*b ? 1.0 : 0.0, is_whole};
  if (const Number* n = number_of(v)) return Number{is_whole ? std::floor(n->value) : n->value, is_whole};
  if (const std::optional<double> n = number_at(text_for(in, name, v), is_whole)) return Number{*n, is_whole};
  const Value* other = args.find(0, "default");
  return other ? *other : Number{0, is_whole};
}

Value absolute(Interp& in, const Value& v, const Args&) {
  const Number* n = number_of(v);
  if (!n) refuse(in, "abs", v);
  return Number{std::abs(n->value), n->whole};
}

Value indent(Interp& in, const Value& v, const Args& args) {
  const long width = in.whole_number(args.find(0, "width"), "the width of \"indent\"").value_or(4);
  const Value *first = args.find(1, "first"), *blank = args.find(2, "blank");
  return in.h.text(indented(in.h, text_for(in, "indent", v), static_cast<size_t>(std::max(0L, width)), first && truth(*first),
                            blank && truth(*blank)));
}

Value join(Interp& in, const Value& v, const Args& args) {
  const Value* given = args.find(0, "separator");
  const Marked separator = given ? in.text(given, "the separator of \"join\"") : Marked();
  Marked out;
  bool first = true;
  const auto add = [&](const Marked& one) {
    in.h.spend_text(one.size() + separator.size());
    if (!first) out.add(separator);
    first = false;
    out.add(one);
  };
  if (const Array* a = array_of(v)) {
    const Value* attribute = args.find("attribute");
    for (const Value& item : a->items)
      add(joined_text(in.h, attribute ? attribute_of(in.h, item, in.text(attribute, "attribute").str()) : item));
  } else {
    const Marked& t = text_for(in, "join", v);
    for (size_t i = 0; i < t.size(); i += char_size(t.str(), i)) add(t.sub(i, char_size(t.str(), i)));
  }
  return in.h.text(std::move(out));
}

const std::map<std::string_view, Filter>& filters() {
  static const std::map<std::string_view, Filter> all = {
      {"safe", [](Interp&, const Value& v, const Args&) { return v; }},
      {"tojson", tojson},
      {"length", length},
      {"count", length},
      {"string", string},
      {"default", fallback},
      {"d", fallback},
      {"int", [](Interp& in, const Value& v, const Args& a) { return number(in, v, a, true); }},
      {"float", [](Interp& in, const Value& v, const Args& a) { return number(in, v, a, false); }},
      {"bool", [](Interp&, const Value& v, const Args&) -> Value { return truth(v); }},
      {"abs", absolute},
      {"upper", [](Interp& in, const Value& v, const Args&) { return change<upper>(in, "upper", v); }},
      {"lower", [](Interp& in, const Value& v, const Args&) { return change<lower>(in, "lower", v); }},
      {"title", [](Interp& in, const Value& v, const Args&) { return change<title>(in, "title", v); }},
      {"capitalize", [](Interp& in, const Value& v, const Args&) { return change<capital>(in, "capitalize", v); }},
      {"trim", [](Interp& in, const Value& v, const Args&) -> Value { return in.h.text(trimmed(text_for(in, "trim", v))); }},
      {"indent", indent},
      {"replace",
       [](Interp& in, const Value& v, const Args& a) { return in.method(in.h.text(text_for(in, "replace", v)), "replace", a); }},
      {"join", join}};
  return all;
}

}  // namespace

Value Interp::filter(const std::string& name, const Value& self, const Args& args) {
  if (const auto it = filters().find(name); it != filters().end()) return it->second(*this, self, args);
  if (const ListFilter list = list_filter(name)) return list(*this, self, args);
  if (dict_of(self) && !method_name(self, name).empty()) return method(self, name, args);
  h.fail(fmt::format("there is no filter \"{}\" for {}", shown(name), kind_of(self)));
}

}  // namespace nyb::jinja
