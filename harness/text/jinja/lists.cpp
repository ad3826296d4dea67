// lists.cpp - lists sorted, chosen from and mapped.
#include "text/jinja/lists.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>

#include "text/jinja/lexer.h"
#include "text/jinja/texts.h"

namespace nyb::jinja {
namespace {

std::vector<Value>& items_for(Interp& in, const char* filter, const Value& v) {
  Array* a = array_of(v);
  if (!a) in.h.fail(fmt::format("the filter \"{}\" is not for {}", filter, kind_of(v)));
  in.h.spend(1 + a->items.size());
  return a->items;
}

// Whether a comes before b; throws where the two have no order.
bool before(Interp& in, const Value& a, const Value& b, bool case_sensitive) {
  in.h.spend(1);
  const auto number_like = [](const Value& v) { return number_of(v) || std::holds_alternative<bool>(v); };
  const auto number = [](const Value& v) { return number_of(v) ? number_of(v)->value : std::get<bool>(v) ? 1.0 : 0.0; };
  if (number_like(a) && number_like(b)) return number(a) < number(b);
  const Marked *s = text_of(a), *t = text_of(b);
  if (s && t) {
    in.h.spend_text(s->size() + t->size());
    return case_sensitive ? s->str() < t->str() : lower(*s).str() < lower(*t).str();
  }
  if ((is_none(a) && is_none(b)) || (is_undefined(a) && is_undefined(b))) return false;
  in.h.fail(fmt::format("{} and {} cannot be sorted", kind_of(a), kind_of(b)));
}

void sort_by(std::vector<Value>& items, bool reverse, const std::function<bool(const Value&, const Value&)>& less) {
  std::stable_sort(items.begin(), items.end(), [&](const Value& a, const Value& b) { return reverse ? less(b, a) : less(a, b); });
}

Value list(Interp& in, const Value& v, const Args&) {
  if (const Marked* t = text_of(v)) {
    std::vector<Value> out;
    for (size_t i = 0; i < t->size(); i += char_size(t->str(), i)) out.push_back(in.h.text(t->sub(i, char_size(t->str(), i))));
    return in.h.array(std::move(out));
  }
  if (dict_of(v)) return in.method(v, "keys", {});
  items_for(in, "list", v);
  return v;
}

Value first(Interp& in, const Value& v, const Args&) {
  const auto& items = items_for(in, "first", v);
  return items.empty() ? Value() : items.front();
}

Value last(Interp& in, const Value& v, const Args&) {
  const auto& items = items_for(in, "last", v);
  return items.empty() ? Value() : items.back();
}

Value reverse(Interp& in, const Value& v, const Args&) {
  const auto& items = items_for(in, "reverse", v);
  return in.h.array({items.rbegin(), items.rend()});
}

Value sort(Interp& in, const Value& v, const Args& args) {
  std::vector<Value> items = items_for(in, "sort", v);
  const bool backwards = in.flag(args.find(0, "reverse"), false, "reverse");
  const bool case_sensitive = in.flag(args.find(1, "case_sensitive"), false, "case_sensitive");
  const Value* by = args.find(2, "attribute");
  std::string path;
  if (by && !is_none(*by)) path = number_of(*by) ? number_text(number_of(*by)->value) : in.text(by, "attribute").str();
  const auto key = [&](const Value& item) { return path.empty() ? item : attribute_of(in.h, item, path); };
  sort_by(items, backwards, [&](const Value& a, const Value& b) { return before(in, key(a), key(b), case_sensitive); });
  return in.h.array(std::move(items));
}

Value unique(Interp& in, const Value& v, const Args&) {
  std::vector<Value> out;
  for (const Value& item : items_for(in, "unique", v)) {
    in.h.spend(out.size());
    if (std::none_of(out.begin(), out.end(), [&](const Value& known) { return equal(in.h, known, item, true); }))
      out.push_back(item);
  }
  return in.h.array(std::move(out));
}

// The items whose attribute passes the test, or those whose does not; without a test: is true.
Value by_attribute(Interp& in, const char* filter, const Value& v, const Args& args, bool keep) {
  const Marked& name = in.text(args.find(0, "attribute"), "the attribute to choose by");
  std::vector<Value> out;
  for (const Value& item : items_for(in, filter, v)) {
    Dict* d = dict_of(item);
    if (!d) in.h.fail(fmt::format("\"{}\" chooses among dicts, and one is {}", filter, kind_of(item)));
    const Value* a = d->find(name.str());
    bool is = false;
    if (a && args.plain.size() > 1) {
      is = in.test(in.text(&args.plain[1], "the name of a test").str(), *a, args.plain.size() > 2 ? &args.plain[2] : nullptr);
    } else if (a) {
      is = truth(*a);
    }
    if (is == keep) out.push_back(item);
  }
  return in.h.array(std::move(out));
}

Value by_test(Interp& in, const char* filter, const Value& v, const Args& args, bool keep) {
  std::vector<Value> out;
  for (const Value& item : items_for(in, filter, v)) {
    const Value* other = args.plain.size() > 1 ? &args.plain[1] : nullptr;
    const bool is = args.plain.empty() ? truth(item) : in.test(in.text(args.plain.data(), "the name of a test").str(), item, other);
    if (is == keep) out.push_back(item);
  }
  return in.h.array(std::move(out));
}

// map(attribute='a.b', default=x), or map('filter', its arguments).
Value map(Interp& in, const Value& v, const Args& args) {
  const Value *attribute = args.find("attribute"), *otherwise = args.find("default");
  std::vector<Value> out;
  for (const Value& item : items_for(in, "map", v)) {
    if (attribute) {
      if (!dict_of(item)) in.h.fail(fmt::format("\"map\" takes an attribute of {}, not of a dict", kind_of(item)));
      Value found = attribute_of(in.h, item, in.text(attribute, "attribute").str());
      out.push_back(is_undefined(found) && otherwise ? *otherwise : std::move(found));
      continue;
    }
    Args rest = args;
    const std::string name = in.text(args.find(0, "filter"), "what \"map\" does to each item").str();
    if (!rest.plain.empty()) rest.plain.erase(rest.plain.begin());
    out.push_back(in.filter(name, item, rest));
  }
  return in.h.array(std::move(out));
}

}  // namespace

ListFilter list_filter(std::string_view name) {
  static const std::map<std::string_view, ListFilter> all = {
      {"list", list},
      {"first", first},
      {"last", last},
      {"reverse", reverse},
      {"sort", sort},
      {"unique", unique},
      {"map", map},
      {"selectattr", [](Interp& in, const Value& v, const Args& a) { return by_attribute(in, "selectattr", v, a, true); }},
      {"rejectattr", [](Interp& in, const Value& v, const Args& a) { return by_attribute(in, "rejectattr", v, a, false); }},
      {"select", [](Interp& in, const Value& v, const Args& a) { return by_test(in, "select", v, a, true); }},
      {"reject", [](Interp& in, const Value& v, const Args& a) { return by_test(in, "reject", v, a, false); }}};
  const auto it = all.find(name);
  return it == all.end() ? nullptr : it->second;
}

Value attribute_of(Heap& h, const Value& of, std::string_view path) {
  Value now = of;
  for (size_t from = 0; from <= path.size();) {
    const size_t end = std::min(path.find('.', from), path.size());
    const std::string_view part = path.substr(from, end - from);
    from = end + 1;
    h.spend(1);
    if (Dict* d = dict_of(now)) {
      const Value* v = d->find(part);
      now = v ? *v : Value();
      continue;
    }
    const Array* a = array_of(now);
    size_t i = 0;
    if (!a || std::from_chars(part.data(), part.data() + part.size(), i).ec != std::errc() || i >= a->items.size())
      return Undefined{};
    now = a->items[i];
  }
  return now;
}

Value sorted_pairs(Interp& in, const Dict& d, const Args& args) {
  const bool case_sensitive = in.flag(args.find(0, "case_sensitive"), false, "case_sensitive");
  const Value* by = args.find(1, "by");
  const std::string key = by ? in.text(by, "by").str() : "key";
  if (key != "key" && key != "value") in.h.fail("dictsort sorts by \"key\" or by \"value\"");
  const bool backwards = in.flag(args.find(2, "reverse"), false, "reverse");
  const size_t at = key == "value";
  std::vector<Value> pairs;
  for (const auto& [k, v] : d.members) pairs.push_back(in.h.array({in.h.text(k), v}));
  sort_by(pairs, backwards, [&](const Value& a, const Value& b) {
    return before(in, array_of(a)->items[at], array_of(b)->items[at], case_sensitive);
  });
  return in.h.array(std::move(pairs));
}

}  // namespace nyb::jinja
