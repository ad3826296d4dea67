// expressions.cpp - the tree of an expression.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "text/jinja/parser.h"

namespace nyb::jinja {
namespace {

constexpr std::string_view kOperators[][4] = {{"+", "-", "~", ""}, {"*", "/", "//", "%"}, {"**", "", "", ""}};

NodePtr binary(const Token& op, std::string name, NodePtr left, NodePtr right) {
  NodePtr node = node_of(Node::binary, op.line, std::move(name));
  node->kids.push_back(std::move(left));
  node->kids.push_back(std::move(right));
  return finished(std::move(node));
}

}  // namespace

void Reader::refuse(const std::string& wanted) const {
  const Token& t = look();
  const char* marks[] = {"text", "{%", "%}", "{{", "}}"};
  const std::string there = t.kind == Token::end           ? "its end"
                            : t.kind <= Token::print_close ? fmt::format("\"{}\"", marks[t.kind])
                                                           : fmt::format("\"{}\"", shown(t.value));
  fail_at(t.line, fmt::format("{} is wanted where {} is", wanted, there));
}

bool Reader::take(Token::Kind kind, std::string_view v) {
  const bool there = look().is(kind, v);
  at_ += there;
  return there;
}

void Reader::want_sign(std::string_view v) {
  if (!sign(v)) refuse(fmt::format("\"{}\"", v));
}

std::string Reader::want_name(const char* what) {
  if (look().kind != Token::name) refuse(what);
  return next().value;
}

NodePtr node_of(Node::Kind kind, uint32_t line, std::string name) {
  NodePtr node = std::make_unique<Node>();
  node->kind = kind;
  node->line = line;
  node->name = std::move(name);
  return node;
}

NodePtr finished(NodePtr node) {
  const auto count = [&](const NodePtr& kid) {
    if (kid) node->height = std::max(node->height, kid->height + 1);
  };
  for (const NodePtr& kid : node->kids) count(kid);
  for (const Argument& a : node->arguments) count(a.value);
  for (const Block& block : node->blocks)
    for (const NodePtr& kid : block) count(kid);
  if (node->height > kMostHeight) fail_at(node->line, fmt::format("more than {} things within each other", kMostHeight));
  return node;
}

// What follows is read one level deeper: brackets within brackets must not use up the stack.
NodePtr ExpressionParser::expression() {
  if (++depth_ > kMostHeight) fail_at(r_.look().line, fmt::format("more than {} things within each other", kMostHeight));
  NodePtr value = either();
  if (r_.at_word("if")) {
    NodePtr node = node_of(Node::choice, r_.next().line);
    node->kids.push_back(either());
    node->kids.push_back(std::move(value));
    node->kids.push_back(r_.word("else") ? expression() : nullptr);
    value = finished(std::move(node));
  }
  --depth_;
  return value;
}

NodePtr ExpressionParser::sequence() {
  NodePtr first = expression();
  if (!r_.at_sign(",")) return first;
  NodePtr node = node_of(Node::tuple, first->line);
  node->kids.push_back(std::move(first));
  while (r_.sign(",") && !r_.at_sign(")") && r_.look().kind != Token::block_close) node->kids.push_back(expression());
  return finished(std::move(node));
}

NodePtr ExpressionParser::targets() {
  const uint32_t line = r_.look().line;
  const bool brackets = r_.sign("(");
  NodePtr node = node_of(Node::tuple, line);
  do { node->kids.push_back(node_of(Node::variable, line, r_.want_name("a name to assign to"))); } while (r_.sign(","));
  if (brackets) r_.want_sign(")");
  if (node->kids.size() == 1) return std::move(node->kids[0]);
  return finished(std::move(node));
}

NodePtr ExpressionParser::either() {
  NodePtr left = both();
  while (r_.at_word("or")) {
    const Token op = r_.next();
    left = binary(op, "or", std::move(left), both());
  }
  return left;
}

NodePtr ExpressionParser::both() {
  NodePtr left = negation();
  while (r_.at_word("and")) {
    const Token op = r_.next();
    left = binary(op, "and", std::move(left), negation());
  }
  return left;
}

NodePtr ExpressionParser::negation() {
  std::vector<uint32_t> lines;
  while (r_.at_word("not")) lines.push_back(r_.next().line);
  NodePtr value = comparison();
  for (; !lines.empty(); lines.pop_back()) {
    NodePtr node = node_of(Node::unary, lines.back(), "not");
    node->kids.push_back(std::move(value));
    value = finished(std::move(node));
  }
  return value;
}

NodePtr ExpressionParser::comparison() {
  NodePtr left = operation(0);
  for (;;) {
    const Token op = r_.look();
    std::string name;
    if (op.kind == Token::sign &&
        (op.value == "<" || op.value == ">" || op.value == "<=" || op.value == ">=" || op.value == "==" || op.value == "!=")) {
      name = op.value;
    } else if (r_.at_word("in")) {
      name = "in";
    } else if (r_.at_word("not") && r_.at_word("in", 1)) {
      r_.next();
      name = "not in";
    } else {
      return left;
    }
    r_.next();
    left = binary(op, std::move(name), std::move(left), operation(0));
  }
}

NodePtr ExpressionParser::operation(size_t level) {
  const auto operand = [&] { return level + 1 < std::size(kOperators) ? operation(level + 1) : tested(); };
  NodePtr left = operand();
  for (;;) {
    const Token op = r_.look();
    const auto& here = kOperators[level];
    if (op.kind != Token::sign || std::find(std::begin(here), std::end(here), op.value) == std::end(here)) return left;
    r_.next();
    left = binary(op, op.value, std::move(left), operand());
  }
}

NodePtr ExpressionParser::tested() {
  NodePtr value = filtered();
  while (r_.at_word("is")) {
    NodePtr node = node_of(Node::test, r_.next().line);
    node->negated = r_.word("not");
    node->name = r_.want_name("the name of a test");
    node->kids.push_back(std::move(value));
    if (r_.sign("(")) node->arguments = arguments();
    value = finished(std::move(node));
  }
  return value;
}

NodePtr ExpressionParser::filtered() {
  NodePtr value = signed_value();
  while (r_.at_sign("|")) {
    NodePtr node = node_of(Node::filter, r_.next().line);
    node->name = r_.want_name("the name of a filter");
    node->kids.push_back(std::move(value));
    if (r_.sign("(")) node->arguments = arguments();
    value = finished(std::move(node));
  }
  return value;
}

NodePtr ExpressionParser::signed_value() {
  std::vector<Token> signs;
  while (r_.at_sign("-") || r_.at_sign("+")) signs.push_back(r_.next());
  NodePtr value = postfix(primary());
  for (; !signs.empty(); signs.pop_back()) {
    NodePtr node = node_of(Node::unary, signs.back().line, signs.back().value);
    node->kids.push_back(std::move(value));
    value = finished(std::move(node));
  }
  return value;
}

NodePtr ExpressionParser::postfix(NodePtr value) {
  for (;;) {
    if (r_.at_sign(".")) {
      const uint32_t line = r_.next().line;
      const bool number = r_.look().kind == Token::number;
      NodePtr node = node_of(number ? Node::index : Node::member, line);
      node->kids.push_back(std::move(value));
      if (number) {
        node->kids.push_back(primary());
      } else {
        node->name = r_.want_name("the name of a member");
      }
      value = finished(std::move(node));
    } else if (r_.at_sign("[")) {
      value = subscript(std::move(value));
    } else if (r_.at_sign("(")) {
      NodePtr node = node_of(Node::call, r_.next().line);
      node->kids.push_back(std::move(value));
      node->arguments = arguments();
      value = finished(std::move(node));
    } else {
      return value;
    }
  }
}

// [i], [from:to], [from:to:step]
NodePtr ExpressionParser::subscript(NodePtr value) {
  NodePtr node = node_of(Node::index, r_.next().line);
  node->kids.push_back(std::move(value));
  const auto part = [&]() -> NodePtr { return r_.at_sign(":") || r_.at_sign("]") ? nullptr : expression(); };
  node->kids.push_back(part());
  while (node->kids.size() < 4 && r_.sign(":")) {
    node->kind = Node::slice;
    node->kids.push_back(part());
  }
  if (node->kind == Node::index && !node->kids[1]) r_.refuse("an index");
  if (node->kind == Node::slice) node->kids.resize(4);
  r_.want_sign("]");
  return finished(std::move(node));
}

NodePtr ExpressionParser::primary() {
  const Token& t = r_.look();
  switch (t.kind) {
    case Token::number: {
      NodePtr node = node_of(t.value.find('.') == std::string::npos ? Node::integer : Node::real, t.line);
      std::from_chars(t.value.data(), t.value.data() + t.value.size(), node->number);
      r_.next();
      return node;
    }
    case Token::string: {
      NodePtr node = node_of(Node::text, t.line);
      while (r_.look().kind == Token::string) node->name += r_.next().value;
      return node;
    }
    case Token::name: {
      const Token& name = r_.next();
      return node_of(Node::variable, name.line, name.value);
    }
    default: break;
  }
  if (r_.sign("(")) {
    if (r_.at_sign(")")) return bracketed(Node::tuple, ")");
    NodePtr inside = sequence();
    r_.want_sign(")");
    return inside;
  }
  if (r_.sign("[")) return bracketed(Node::list, "]");
  if (r_.sign("{")) return bracketed(Node::dict, "}");
  r_.refuse("a value");
}

NodePtr ExpressionParser::bracketed(Node::Kind kind, std::string_view close) {
  NodePtr node = node_of(kind, r_.look().line);
  while (!r_.sign(close)) {
    if (!node->kids.empty()) {
      r_.want_sign(",");
      if (r_.sign(close)) break;
    }
    node->kids.push_back(expression());
    if (kind != Node::dict) continue;
    r_.want_sign(":");
    node->kids.push_back(expression());
  }
  return finished(std::move(node));
}

std::vector<Argument> ExpressionParser::arguments() {
  std::vector<Argument> all;
  while (!r_.sign(")")) {
    if (!all.empty()) {
      r_.want_sign(",");
      if (r_.sign(")")) break;
    }
    Argument a;
    if (r_.sign("**")) {
      a.kind = Argument::named_spread;
    } else if (r_.sign("*")) {
      a.kind = Argument::spread;
    } else if (r_.look().kind == Token::name && r_.look(1).is(Token::sign, "=")) {
      a.kind = Argument::named;
      a.name = r_.next().value;
      r_.next();
    } else if (!all.empty() && (all.back().kind == Argument::named || all.back().kind == Argument::named_spread)) {
      r_.refuse("an argument with a name, as the one before it has one,");
    }
    a.value = expression();
    all.push_back(std::move(a));
  }
  return all;
}

std::vector<Argument> ExpressionParser::parameters() {
  std::vector<Argument> all;
  while (!r_.sign(")")) {
    if (!all.empty()) {
      r_.want_sign(",");
      if (r_.sign(")")) break;
    }
    Argument a;
    const uint32_t line = r_.look().line;
    a.name = r_.want_name("the name of a parameter");
    if (r_.sign("=")) {
      a.kind = Argument::named;
      a.value = expression();
    } else if (!all.empty() && all.back().kind == Argument::named) {
      r_.refuse("\"=\" and a value, as the parameter before it has one,");
    }
    if (std::any_of(all.begin(), all.end(), [&](const Argument& b) { return b.name == a.name; }))
      fail_at(line, fmt::format("two parameters are called \"{}\"", shown(a.name)));
    all.push_back(std::move(a));
  }
  return all;
}

}  // namespace nyb::jinja
