// statements.cpp - what a template's statements do.
#include <fmt/format.h>

#include <algorithm>

#include "text/jinja/interp.h"
#include "text/jinja/lexer.h"

namespace nyb::jinja {

const Value* Args::find(std::string_view name) const {
  for (const auto& [known, value] : named)
    if (known == name) return &value;
  return nullptr;
}

const Value* Args::find(size_t i, std::string_view name) const { return i < plain.size() ? &plain[i] : find(name); }

// A block counts as printed where it is run to its end: what {% break %} or {% continue %} leaves is gone, as in the reference.
Interp::Flow Interp::run(const Block& block, Scope& scope, Marked& out) {
  const Deeper deeper(*this);
  const auto add = [&](const Marked& text) {
    h.spend_text(text.size());
    out.add(text);
  };
  for (const NodePtr& p : block) {
    const Node& node = *p;
    h.line = node.line;
    Flow flow = Flow::on;
    switch (node.kind) {
      case Node::text:
        h.spend_text(node.name.size());
        out.add(node.name);
        break;
      case Node::print: add(printed(h, print_node(*node.kids[0], scope))); break;
      case Node::set: set(node, scope); break;
      case Node::condition: flow = condition(node, scope, out); break;
      case Node::loop: loop(node, scope, out); break;
      case Node::macro: {
        Function f{Function::macro, &node, nullptr, node.name, Undefined{}};
        scope.put(node.name, h.function(std::move(f)));
        break;
      }
      case Node::call_block: call_block(node, scope, out); break;
      case Node::filter_block: {
        Marked inside;
        flow = run(node.blocks[0], scope, inside);
        if (flow != Flow::on) break;
        const Node& filter_node = *node.kids[0];
        add(printed(h, filter(filter_node.name, h.text(std::move(inside)), arguments(filter_node.arguments, scope))));
        break;
      }
      case Node::break_loop: return Flow::break_loop;
      case Node::next_round: return Flow::next_round;
      default: h.fail("this is no statement");
    }
    if (flow != Flow::on) return flow;
  }
  return Flow::on;
}

Value Interp::print_node(const Node& node, Scope& scope) {
  Value v = evaluate(node, scope);
  if (std::holds_alternative<const Function*>(v)) h.fail("a function is printed; it is to be called");
  return v;
}

void Interp::set(const Node& node, Scope& scope) {
  if (node.kids[1]) return assign(*node.kids[0], evaluate(*node.kids[1], scope), scope);
  Marked inside;
  run(node.blocks[0], scope, inside);
  assign(*node.kids[0], h.text(std::move(inside)), scope);
}

void Interp::assign(const Node& target, const Value& value, Scope& scope) {
  if (target.kind == Node::variable) return scope.put(target.name, value);
  if (target.kind == Node::member) {
    Dict* d = dict_of(evaluate(*target.kids[0], scope));
    if (!d || !d->is_namespace) h.fail(fmt::format("the member \"{}\" is set of what is no namespace", shown(target.name)));
    return d->put(Marked(target.name), value);
  }
  const Array* a = array_of(value);
  if (!a) h.fail(fmt::format("{} names are given {}, not a list", target.kids.size(), kind_of(value)));
  if (a->items.size() != target.kids.size())
    h.fail(fmt::format("{} names are given a list of {}", target.kids.size(), a->items.size()));
  for (size_t i = 0; i < target.kids.size(); ++i) scope.put(target.kids[i]->name, a->items[i]);
}

Interp::Flow Interp::condition(const Node& node, Scope& scope, Marked& out) {
  for (size_t i = 0; i < node.kids.size(); ++i)
    if (!node.kids[i] || truth(evaluate(*node.kids[i], scope))) return run(node.blocks[i], scope, out);
  return Flow::on;
}

// One scope for all rounds: what one sets the next one sees, as in the reference.
void Interp::loop(const Node& node, Scope& outer, Marked& out) {
  Scope& scope = *h.scope(&outer);
  const Value over = evaluate(*node.kids[1], outer);
  std::vector<Value> items;
  if (const Array* a = array_of(over)) {
    items = a->items;
  } else if (const Dict* d = dict_of(over); d && !d->is_namespace) {
    for (const auto& [key, value] : d->members) items.push_back(h.text(key));
  } else {
    h.fail(fmt::format("the loop is over {}, not over a list or a dict", kind_of(over)));
  }
  h.spend(items.size());
  if (node.kids[2]) {
    const auto out_of = [&](const Value& item) {
      Scope& inner = *h.scope(&outer);
      assign(*node.kids[0], item, inner);
      return !truth(evaluate(*node.kids[2], inner));
    };
    std::erase_if(items, out_of);
  }
  bool none = true;
  const size_t n = items.size();
  for (size_t i = 0; i < n; ++i) {
    h.spend(12);
    Dict* loop = h.dict();
    const auto tell = [&](const char* name, Value v) { loop->members.emplace_back(Marked(name), std::move(v)); };
    tell("index", whole(static_cast<double>(i + 1)));
    tell("index0", whole(static_cast<double>(i)));
    tell("revindex", whole(static_cast<double>(n - i)));
    tell("revindex0", whole(static_cast<double>(n - i - 1)));
    tell("first", i == 0);
    tell("last", i + 1 == n);
    tell("length", whole(static_cast<double>(n)));
    tell("previtem", i > 0 ? items[i - 1] : Value());
    tell("nextitem", i + 1 < n ? items[i + 1] : Value());
    scope.put("loop", loop);
    assign(*node.kids[0], items[i], scope);
    const size_t begun = out.size();
    const Flow flow = run(node.blocks[0], scope, out);
    if (flow != Flow::on) out.cut(begun);
    if (flow == Flow::break_loop) break;
    if (flow == Flow::on) none = false;
  }
  if (none) run(node.blocks[1], scope, out);
}

void Interp::call_block(const Node& node, Scope& scope, Marked& out) {
  const Node& called = *node.kids[0];
  Args args = arguments(called.arguments, scope);
  const Value function = evaluate(*called.kids[0], scope);
  Scope& inner = *h.scope(&scope);
  inner.put("caller", h.function({Function::caller, &node, &scope, "caller", Undefined{}}));
  const Marked text = printed(h, call(function, std::move(args), inner));
  h.spend_text(text.size());
  out.add(text);
}

// Every parameter has its value before a default is worked out, which may name those before it.
void Interp::bind(const Node& node, const Args& args, Scope& scope) {
  const std::string name = node.kind == Node::macro ? fmt::format("the macro \"{}\"", shown(node.name)) : "the block of a call";
  for (size_t i = 0; i < node.arguments.size(); ++i) {
    const Value* given = args.find(i, node.arguments[i].name);
    scope.put(node.arguments[i].name, given ? *given : Value());
  }
  if (args.plain.size() > node.arguments.size())
    h.fail(fmt::format("{} takes {} arguments, not {}", name, node.arguments.size(), args.plain.size()));
  for (const auto& [given, value] : args.named) {
    const auto it =
        std::find_if(node.arguments.begin(), node.arguments.end(), [&, &g = given](const Argument& a) { return a.name == g; });
    const auto i = static_cast<size_t>(it - node.arguments.begin());
    if (i < args.plain.size() || it == node.arguments.end())
      h.fail(fmt::format("{} takes no argument \"{}\" here", name, shown(given)));
  }
  for (size_t i = args.plain.size(); i < node.arguments.size(); ++i) {
    const Argument& a = node.arguments[i];
    if (a.value && !args.find(a.name)) scope.put(a.name, evaluate(*a.value, scope));
  }
}

// Of a macro or a caller. A macro sees the variables of where it is called, as in the reference.
Value Interp::run_body(const Node& node, const Args& args, Scope& around) {
  Scope& scope = *h.scope(&around);
  bind(node, args, scope);
  Marked out;
  run(node.blocks[0], scope, out);
  return h.text(std::move(out));
}

Value Interp::call(const Value& function, Args args, Scope& scope) {
  const auto* p = std::get_if<const Function*>(&function);
  if (!p) h.fail(fmt::format("{} is called, which is no function", kind_of(function)));
  const Function& f = **p;
  const uint32_t line = h.line;
  Value result;
  switch (f.kind) {
    case Function::macro: result = run_body(*f.node, args, scope); break;
    case Function::caller: result = run_body(*f.node, args, *f.scope); break;
    case Function::method: result = method(f.self, f.name, args); break;
    case Function::global: result = global(f.name, args); break;
  }
  h.line = line;
  return result;
}

}  // namespace nyb::jinja
