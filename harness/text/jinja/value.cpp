// value.cpp - values: what is true, what is equal, what is printed.
#include "text/jinja/value.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "text/jinja/lexer.h"

namespace nyb::jinja {
namespace {

constexpr size_t kMostSteps = 4'000'000;

// A text as a number, as JavaScript's == takes it; NaN where it is none.
double number_in(const std::string& s) {
  const size_t from = skip_space(s), to = before_space(s);
  if (from >= to) return 0;
  double v = 0;
  const auto [end, ec] = std::from_chars(s.data() + from, s.data() + to, v);
  return ec == std::errc() && end == s.data() + to ? v : std::nan("");
}

double number_like(const Value& v) {
  if (const bool* b = std::get_if<bool>(&v)) return *b ? 1 : 0;
  if (const Number* n = number_of(v)) return n->value;
  if (const Marked* t = text_of(v)) return number_in(t->str());
  return std::nan("");
}

}  // namespace

Value* Dict::find(std::string_view key) {
  const auto it = std::find_if(members.begin(), members.end(), [&](const auto& m) { return m.first.str() == key; });
  return it == members.end() ? nullptr : &it->second;
}

void Dict::put(const Marked& key, Value value) {
  if (Value* old = find(key.str())) {
    *old = std::move(value);
  } else {
    members.emplace_back(key, std::move(value));
  }
}

const Value* Scope::find(std::string_view name) const {
  for (const Scope* s = this; s; s = s->around)
    for (const auto& [known, value] : s->variables)
      if (known == name) return &value;
  return nullptr;
}

void Scope::put(std::string_view name, Value value) {
  for (auto& [known, old] : variables)
    if (known == name) return void(old = std::move(value));
  variables.emplace_back(name, std::move(value));
}

void Heap::spend(size_t steps) {
  if (steps > kMostSteps - spent_) fail("the template does more than a template may; it has no end, or its texts grow too long");
  spent_ += steps;
}

void Heap::fail(const std::string& what) const { fail_at(line, what); }

Value Heap::text(Marked m) {
  spend_text(m.size());
  return std::make_shared<const Marked>(std::move(m));
}

Value Heap::array(std::vector<Value> items, bool tuple) {
  spend(2 + items.size());
  return &arrays_.emplace_back(Array{std::move(items), tuple});
}

Dict* Heap::dict(bool is_namespace) {
  spend(4);
  return &dicts_.emplace_back(Dict{{}, is_namespace});
}

Value Heap::function(Function f) {
  spend(4);
  return &functions_.emplace_back(std::move(f));
}

Scope* Heap::scope(Scope* around) {
  spend(4);
  return &scopes_.emplace_back(Scope{around, {}});
}

Value whole(double v) { return Number{v, true}; }

const char* kind_of(const Value& v) {
  constexpr const char* names[] = {"an undefined value", "none", "a boolean", "a number", "a text", "a list", "a dict",
                                   "a function"};
  return names[v.index()];
}

bool truth(const Value& v) {
  if (const bool* b = std::get_if<bool>(&v)) return *b;
  if (const Number* n = number_of(v)) return n->value != 0 && !std::isnan(n->value);
  if (const Marked* t = text_of(v)) return !t->empty();
  if (const Array* a = array_of(v)) return !a->items.empty();
  if (const Dict* d = dict_of(v)) return d->is_namespace || !d->members.empty();
  return std::holds_alternative<const Function*>(v);
}

bool equal(Heap& h, const Value& a, const Value& b, bool strict) {
  const Marked *s = text_of(a), *t = text_of(b);
  if (s && t) {
    if (s->size() == t->size()) h.spend_text(s->size());
    return *s == *t;
  }
  if (number_of(a) && number_of(b)) return number_like(a) == number_like(b);
  if (a.index() == b.index()) {
    if (const bool* x = std::get_if<bool>(&a)) return *x == std::get<bool>(b);
    if (const Array* x = array_of(a)) return x == array_of(b);
    if (const Dict* x = dict_of(a)) return x == dict_of(b);
    if (const auto* x = std::get_if<const Function*>(&a)) return *x == std::get<const Function*>(b);
    return true;  // undefined, none
  }
  if (strict) return false;
  const auto nothing = [](const Value& v) { return is_undefined(v) || is_none(v); };
  if (nothing(a) || nothing(b)) return nothing(a) && nothing(b);
  return number_like(a) == number_like(b);
}

// As JavaScript writes numbers: the shortest digits that read as the same number.
std::string number_text(double v) {
  if (std::isnan(v)) return "NaN";
  if (std::isinf(v)) return v < 0 ? "-Infinity" : "Infinity";
  if (v == 0) return "0";
  const double size = std::abs(v);
  char buffer[400];
  const auto format = size >= 1e-6 && size < 1e21 ? std::chars_format::fixed : std::chars_format::scientific;
  std::string s(buffer, std::to_chars(std::begin(buffer), std::end(buffer), v, format).ptr);
  if (const size_t e = s.find('e'); e != s.npos && s[e + 2] == '0') s.erase(e + 2, 1);  // 1e-07
  return s;
}

Marked joined_text(Heap& h, const Value& v) {
  if (const Marked* t = text_of(v)) return *t;
  if (const Number* n = number_of(v)) return Marked(number_text(n->value));
  const Array* a = array_of(v);
  if (!a) return printed(h, v);
  Marked out;
  for (size_t i = 0; i < a->items.size(); ++i) {
    if (i) out.add(",");
    const Value& item = a->items[i];
    const Marked one = is_none(item) ? Marked("null") : is_undefined(item) ? Marked("undefined") : printed(h, item);
    h.spend_text(one.size());
    out.add(one);
  }
  return out;
}

Marked printed(Heap& h, const Value& v) {
  if (is_undefined(v) || is_none(v)) return {};
  if (const bool* b = std::get_if<bool>(&v)) return Marked(*b ? "true" : "false");
  if (const Marked* t = text_of(v)) return *t;
  if (const Number* n = number_of(v)) {
    if (n->whole) return Marked(number_text(n->value));
    if (n->value == 0) return Marked(std::signbit(n->value) ? "-0.0" : "0.0");
    return Marked(number_text(n->value) + (std::fmod(n->value, 1) == 0 && std::abs(n->value) < 1e21 ? ".0" : ""));
  }
  return json(h, v);
}

}  // namespace nyb::jinja
