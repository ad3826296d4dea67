// tests.cpp - what {{ value is test }} asks.
#include <fmt/format.h>

#include <cmath>
#include <map>

#include "text/jinja/interp.h"
#include "text/jinja/lexer.h"
#include "text/jinja/texts.h"

namespace nyb::jinja {
namespace {

// The value, and what the test is asked with: undefined where it is asked with nothing.
using Test = bool (*)(Interp&, const Value&, const Value&);

bool whole_is(Interp& in, const Value& v, const char* test, double divisor, bool zero) {
  const Number* n = number_of(v);
  if (!n || !n->whole) in.h.fail(fmt::format("\"is {}\" asks about {}, not about a whole number", test, kind_of(v)));
  return (std::fmod(n->value, divisor) == 0) == zero;
}

bool is_dict(const Value& v) {
  const Dict* d = dict_of(v);
  return d && !d->is_namespace;
}

const std::map<std::string_view, Test>& tests() {
  const auto same = [](Interp& in, const Value& a, const Value& b) { return equal(in.h, a, b, true); };
  static const std::map<std::string_view, Test> all = {
      {"defined", [](Interp&, const Value& v, const Value&) { return !is_undefined(v); }},
      {"undefined", [](Interp&, const Value& v, const Value&) { return is_undefined(v); }},
      {"none", [](Interp&, const Value& v, const Value&) { return is_none(v); }},
      {"boolean", [](Interp&, const Value& v, const Value&) { return std::holds_alternative<bool>(v); }},
      {"true", [](Interp&, const Value& v, const Value&) { return std::holds_alternative<bool>(v) && truth(v); }},
      {"false", [](Interp&, const Value& v, const Value&) { return std::holds_alternative<bool>(v) && !truth(v); }},
      {"string", [](Interp&, const Value& v, const Value&) { return text_of(v) != nullptr; }},
      {"number", [](Interp&, const Value& v, const Value&) { return number_of(v) != nullptr; }},
      {"integer", [](Interp&, const Value& v, const Value&) { return number_of(v) && number_of(v)->whole; }},
      {"float", [](Interp&, const Value& v, const Value&) { return number_of(v) && !number_of(v)->whole; }},
      {"mapping", [](Interp&, const Value& v, const Value&) { return is_dict(v); }},
      {"iterable", [](Interp&, const Value& v, const Value&) { return (array_of(v) && !array_of(v)->tuple) || text_of(v); }},
      {"sequence", [](Interp&, const Value& v, const Value&) { return array_of(v) || text_of(v) || is_dict(v); }},
      {"callable", [](Interp&, const Value& v, const Value&) { return std::holds_alternative<const Function*>(v); }},
      {"odd", [](Interp& in, const Value& v, const Value&) { return whole_is(in, v, "odd", 2, false); }},
      {"even", [](Interp& in, const Value& v, const Value&) { return whole_is(in, v, "even", 2, true); }},
      {"divisibleby",
       [](Interp& in, const Value& v, const Value& by) {
         return whole_is(in, v, "divisibleby", number_of(by) ? number_of(by)->value : 0, true);
       }},
      {"lower", [](Interp&, const Value& v, const Value&) { return text_of(v) && lower(*text_of(v)) == *text_of(v); }},
      {"upper", [](Interp&, const Value& v, const Value&) { return text_of(v) && upper(*text_of(v)) == *text_of(v); }},
      {"equalto", same},
      {"eq", same},
      {"sameas", same},
      {"ne", [](Interp& in, const Value& a, const Value& b) { return !equal(in.h, a, b, true); }}};
  return all;
}

}  // namespace

bool Interp::test(const std::string& name, const Value& self, const Value* other) {
  const auto it = tests().find(name);
  if (name == "in" && other) return contains(*other, self).value_or(false);
  if (it == tests().end()) h.fail(fmt::format("there is no test \"{}\"", shown(name)));
  if (const Marked* t = text_of(self)) h.spend_text(t->size());
  return it->second(*this, self, other ? *other : Value());
}

}  // namespace nyb::jinja
