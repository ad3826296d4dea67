// operators.cpp - what stands between values.
#include <fmt/format.h>

#include <cmath>

#include "text/jinja/interp.h"
#include "text/jinja/lexer.h"

namespace nyb::jinja {
namespace {

// A name for an operand in an error: its own where it has one.
std::string called(const Node& node, const Value& v) {
  if (!is_undefined(v) || (node.kind != Node::variable && node.kind != Node::member)) return kind_of(v);
  return fmt::format("\"{}\", which is not defined", shown(node.name));
}

std::optional<double> number_or_flag(const Value& v) {
  if (const bool* b = std::get_if<bool>(&v)) return *b ? 1 : 0;
  if (const Number* n = number_of(v)) return n->value;
  return std::nullopt;
}

}  // namespace

Value Interp::unary(const Node& node, Scope& scope) {
  const Value v = evaluate(*node.kids[0], scope);
  h.line = node.line;
  if (node.name == "not") return !truth(v);
  const std::optional<double> n = number_or_flag(v);
  if (!n) h.fail(fmt::format("{} stands before {}", node.name, called(*node.kids[0], v)));
  return Number{node.name == "-" ? -*n : *n, !number_of(v) || number_of(v)->whole};
}

Value Interp::binary(const Node& node, Scope& scope) {
  const std::string& op = node.name;
  const Value a = evaluate(*node.kids[0], scope);
  if (op == "and") return truth(a) ? evaluate(*node.kids[1], scope) : a;
  if (op == "or") return truth(a) ? a : evaluate(*node.kids[1], scope);
  const Value b = evaluate(*node.kids[1], scope);
  h.line = node.line;
  if (op == "==" || op == "!=") return equal(h, a, b) == (op == "==");
  const bool in = op == "in", not_in = op == "not in";
  if (is_undefined(b) && (in || not_in)) return not_in;
  const bool nothing = is_undefined(a) || is_undefined(b) || is_none(a) || is_none(b);
  if (!nothing && op == "~") {
    Marked out = joined_text(h, a);
    out.add(joined_text(h, b));
    return h.text(std::move(out));
  }
  if (!nothing && op == "**" && number_or_flag(a) && number_or_flag(b)) {
    const double v = std::pow(*number_or_flag(a), *number_or_flag(b));
    if (!std::isfinite(v)) h.fail("** has no finite result");
    const auto is_whole = [](const Value& x) { return !number_of(x) || number_of(x)->whole; };
    return Number{v, is_whole(a) && is_whole(b) && *number_or_flag(b) >= 0};
  }
  if (!nothing && number_of(a) && number_of(b) && !in && !not_in) return arithmetic(op, a, b);
  if (!nothing && op == "+") {
    if (const Array* x = array_of(a), *y = array_of(b); x && y) {
      h.spend(x->items.size() + y->items.size());
      std::vector<Value> items = x->items;
      items.insert(items.end(), y->items.begin(), y->items.end());
      return h.array(std::move(items));
    }
    if (text_of(a) || text_of(b)) {
      Marked out = joined_text(h, a);
      out.add(joined_text(h, b));
      return h.text(std::move(out));
    }
  }
  if (!nothing && (in || not_in)) {
    if (const std::optional<bool> there = contains(b, a)) return *there == in;
  }
  h.fail(fmt::format("{} stands between {} and {}", op, called(*node.kids[0], a), called(*node.kids[1], b)));
}

Value Interp::arithmetic(const std::string& op, const Value& a, const Value& b) {
  const double x = number_of(a)->value, y = number_of(b)->value;
  const bool is_whole = number_of(a)->whole && number_of(b)->whole;
  if (op == "+") return Number{x + y, is_whole};
  if (op == "-") return Number{x - y, is_whole};
  if (op == "*") return Number{x * y, is_whole};
  if (op == "<") return x < y;
  if (op == ">") return x > y;
  if (op == "<=") return x <= y;
  if (op == ">=") return x >= y;
  if (y == 0) h.fail(fmt::format("{} by 0", op));
  if (op == "/") return Number{x / y, false};
  if (op == "//") return Number{std::floor(x / y), is_whole};
  return Number{std::fmod(x, y), is_whole};
}

// nullopt: the question makes no sense for such values.
std::optional<bool> Interp::contains(const Value& all, const Value& one) {
  const Marked* t = text_of(one);
  if (const Array* a = array_of(all)) {
    for (const Value& v : a->items) {
      h.spend(1);
      if (equal(h, v, one, true)) return true;
    }
    return false;
  }
  if (const Marked* s = text_of(all); s && t) {
    h.spend_text(s->size());
    return find_text(s->str(), t->str()) != std::string::npos;
  }
  Dict* d = dict_of(all);
  if (!d || !t) return std::nullopt;
  h.spend(d->members.size() / 8);
  return d->find(t->str()) != nullptr;
}

}  // namespace nyb::jinja
