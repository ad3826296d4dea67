// evaluate.cpp - what expressions are worth.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "text/jinja/interp.h"
#include "text/jinja/lexer.h"

namespace nyb::jinja {
namespace {

size_t characters(std::string_view s) {
  size_t n = 0;
  for (size_t i = 0; i < s.size(); i += char_size(s, i)) ++n;
  return n;
}

// Python's rule for one end of a slice.
long end_of(std::optional<long> given, long otherwise, long n, long lowest, long highest) {
  if (!given) return otherwise;
  return std::clamp(*given < 0 ? n + *given : *given, lowest, highest);
}

}  // namespace

Value Interp::evaluate(const Node& node, Scope& scope) {
  const Deeper deeper(*this);
  h.spend(1);
  h.line = node.line;
  switch (node.kind) {
    case Node::variable: return variable(node, scope);
    case Node::member: {
      const Value of = evaluate(*node.kids[0], scope);
      return member(of, Marked(node.name));
    }
    case Node::index: return index(node, scope);
    case Node::slice: return slice(node, scope);
    case Node::call: {
      Args args = arguments(node.arguments, scope);
      const Value function = evaluate(*node.kids[0], scope);
      h.line = node.line;
      if (is_undefined(function) && (node.kids[0]->kind == Node::variable || node.kids[0]->kind == Node::member))
        h.fail(fmt::format("there is no function \"{}\"", shown(node.kids[0]->name)));
      return call(function, std::move(args), scope);
    }
    case Node::filter: {
      const Value self = evaluate(*node.kids[0], scope);
      const Args args = arguments(node.arguments, scope);
      h.line = node.line;
      return filter(node.name, self, args);
    }
    case Node::test: {
      const Value self = evaluate(*node.kids[0], scope);
      const Args args = arguments(node.arguments, scope);
      h.line = node.line;
      return test(node.name, self, args.plain.empty() ? nullptr : args.plain.data()) != node.negated;
    }
    case Node::unary: return unary(node, scope);
    case Node::binary: return binary(node, scope);
    case Node::choice:
      if (truth(evaluate(*node.kids[0], scope))) return evaluate(*node.kids[1], scope);
      return node.kids[2] ? evaluate(*node.kids[2], scope) : Value();
    default: return literal(node, scope);
  }
}

Value Interp::literal(const Node& node, Scope& scope) {
  switch (node.kind) {
    case Node::text: return h.text(node.name);
    case Node::integer:
    case Node::real: return Number{node.number, node.kind == Node::integer};
    case Node::list:
    case Node::tuple: {
      std::vector<Value> items;
      for (const NodePtr& kid : node.kids) items.push_back(evaluate(*kid, scope));
      return h.array(std::move(items), node.kind == Node::tuple);
    }
    case Node::dict: {
      Dict* d = h.dict();
      for (size_t i = 0; i + 1 < node.kids.size(); i += 2) {
        const Value key = evaluate(*node.kids[i], scope);
        if (!text_of(key)) h.fail(fmt::format("a key of a dict is {}, not a text", kind_of(key)));
        h.spend(4 + d->members.size() / 8);
        d->put(*text_of(key), evaluate(*node.kids[i + 1], scope));
      }
      return d;
    }
    default: h.fail("this is no value");
  }
}

Args Interp::arguments(const std::vector<Argument>& list, Scope& scope) {
  Args args;
  const auto name = [&](std::string_view key, Value value) {
    if (args.find(key)) h.fail(fmt::format("the argument \"{}\" is given twice", shown(key)));
    args.named.emplace_back(key, std::move(value));
  };
  for (const Argument& a : list) {
    const Value v = evaluate(*a.value, scope);
    if (a.kind == Argument::plain) {
      args.plain.push_back(v);
    } else if (a.kind == Argument::named) {
      name(a.name, v);
    } else if (a.kind == Argument::spread) {
      const Array* all = array_of(v);
      if (!all) h.fail(fmt::format("* is followed by {}, not by a list", kind_of(v)));
      h.spend(all->items.size());
      args.plain.insert(args.plain.end(), all->items.begin(), all->items.end());
    } else {
      const Dict* all = dict_of(v);
      if (!all) h.fail(fmt::format("** is followed by {}, not by a dict", kind_of(v)));
      h.spend(all->members.size());
      for (const auto& [key, value] : all->members) name(key.str(), value);
    }
  }
  return args;
}

Value Interp::variable(const Node& node, const Scope& scope) {
  for (const Scope* s = &scope; s; s = s->around) h.spend(s->variables.size() / 16);
  if (const Value* v = scope.find(node.name)) return *v;
  if (node.name == "true" || node.name == "True") return true;
  if (node.name == "false" || node.name == "False") return false;
  if (node.name == "none" || node.name == "None") return None{};
  if (is_global(node.name)) return h.function({Function::global, nullptr, nullptr, node.name, Undefined{}});
  return Undefined{};
}

Value Interp::member(const Value& of, const Marked& name) {
  if (Dict* d = dict_of(of)) {
    h.spend(d->members.size() / 8);
    if (const Value* v = d->find(name.str())) return *v;
  }
  if (name.str() == "length" && (text_of(of) || array_of(of))) return filter("length", of, {});
  const std::string_view method = method_name(of, name.str());
  if (method.empty()) return Undefined{};
  return h.function({Function::method, nullptr, nullptr, method, of});
}

Value Interp::index(const Node& node, Scope& scope) {
  const Value of = evaluate(*node.kids[0], scope);
  const Value at = evaluate(*node.kids[1], scope);
  h.line = node.line;
  if (const Marked* name = text_of(at)) return member(of, *name);
  const Number* n = number_of(at);
  const Array* a = array_of(of);
  const Marked* t = text_of(of);
  if (!n || !n->whole || (!a && !t)) h.fail(fmt::format("{} has no member at {}", kind_of(of), kind_of(at)));
  if (t) h.spend_text(t->size());
  const auto size = static_cast<double>(a ? a->items.size() : characters(t->str()));
  const double i = n->value < 0 ? size + n->value : n->value;
  if (!(i >= 0 && i < size)) return Undefined{};
  if (a) return a->items[static_cast<size_t>(i)];
  size_t from = 0;
  for (auto left = static_cast<size_t>(i); left > 0; --left) from += char_size(t->str(), from);
  return h.text(t->sub(from, char_size(t->str(), from)));
}

Value Interp::slice(const Node& node, Scope& scope) {
  const Value of = evaluate(*node.kids[0], scope);
  std::optional<long> part[3];
  for (size_t i = 0; i < 3; ++i) {
    if (!node.kids[i + 1]) continue;
    const Value v = evaluate(*node.kids[i + 1], scope);
    part[i] = whole_number(&v, "a part of a slice");
  }
  h.line = node.line;
  const Array* a = array_of(of);
  const Marked* t = text_of(of);
  if (!a && !t) h.fail(fmt::format("{} has no slices", kind_of(of)));
  std::vector<size_t> begins;  // of characters
  if (t) {
    h.spend(t->size() / 4);
    for (size_t i = 0; i < t->size(); i += char_size(t->str(), i)) begins.push_back(i);
  }
  const auto n = static_cast<long>(a ? a->items.size() : begins.size());
  const long step = part[2].value_or(1);
  if (step == 0) h.fail("a slice has steps of 0");
  const long from = step > 0 ? end_of(part[0], 0, n, 0, n) : end_of(part[0], n - 1, n, -1, n - 1);
  const long to = step > 0 ? end_of(part[1], n, n, 0, n) : end_of(part[1], -1, n, -1, n - 1);
  std::vector<Value> items;
  Marked text;
  for (long i = from; step > 0 ? i < to : i > to; i += std::clamp(step, -n - 1, n + 1)) {
    h.spend(1);
    const auto at = static_cast<size_t>(i);
    if (a) {
      items.push_back(a->items[at]);
    } else {
      text.add(*t, begins[at], char_size(t->str(), begins[at]));
    }
  }
  return a ? h.array(std::move(items)) : h.text(std::move(text));
}

bool Interp::flag(const Value* v, bool otherwise, const char* what) {
  if (!v) return otherwise;
  const bool* b = std::get_if<bool>(v);
  if (!b) h.fail(fmt::format("{} is {}, not true or false", what, kind_of(*v)));
  return *b;
}

std::optional<long> Interp::whole_number(const Value* v, const char* what) {
  if (!v || is_undefined(*v) || is_none(*v)) return std::nullopt;
  const Number* n = number_of(*v);
  if (!n || !n->whole || std::abs(n->value) > 1e15)
    h.fail(fmt::format("{} is {}, not a whole number of use here", what, kind_of(*v)));
  return static_cast<long>(n->value);
}

const Marked& Interp::text(const Value* v, const char* what) {
  const Marked* t = v ? text_of(*v) : nullptr;
  if (!t) h.fail(fmt::format("{} is {}, not a text", what, v ? kind_of(*v) : "not given"));
  return *t;
}

}  // namespace nyb::jinja
