// parser.h - tokens to a tree; the parts that statements and expressions share.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#include "text/jinja/lexer.h"
#include "text/jinja/node.h"

namespace nyb::jinja {

// What reads tokens one after the other, with one look ahead.
class Reader {
 public:
  explicit Reader(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}
  const Token& look(size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  const Token& next() { return tokens_[std::min(at_++, tokens_.size() - 1)]; }
  bool sign(std::string_view v) { return take(Token::sign, v); }
  bool word(std::string_view v) { return take(Token::name, v); }
  bool at_sign(std::string_view v) const { return look().is(Token::sign, v); }
  bool at_word(std::string_view v, size_t ahead = 0) const { return look(ahead).is(Token::name, v); }
  void want_sign(std::string_view v);
  std::string want_name(const char* what);
  [[noreturn]] void refuse(const std::string& wanted) const;  // names what is there in place of it

 private:
  bool take(Token::Kind kind, std::string_view v);
  std::vector<Token> tokens_;
  size_t at_ = 0;
};

// Sets the height; throws where it is too much.
NodePtr finished(NodePtr node);
NodePtr node_of(Node::Kind kind, uint32_t line, std::string name = {});

// Expressions by precedence: a if b else c; or; and; not; comparisons and in; + - ~; * / // %; **; is; |; signs; calls and members.
class ExpressionParser {
 public:
  explicit ExpressionParser(Reader& r) : r_(r) {}
  NodePtr expression();
  NodePtr sequence();  // a, b, c: a tuple; one alone: itself
  NodePtr targets();   // what a loop or {% set %} assigns to
  NodePtr primary();
  std::vector<Argument> arguments();   // of a call, "(" taken already
  std::vector<Argument> parameters();  // of a macro, "(" taken already

 private:
  NodePtr either();
  NodePtr both();
  NodePtr negation();
  NodePtr comparison();
  NodePtr operation(size_t level);
  NodePtr tested();
  NodePtr filtered();
  NodePtr signed_value();
  NodePtr postfix(NodePtr node);
  NodePtr subscript(NodePtr node);
  NodePtr bracketed(Node::Kind kind, std::string_view close);

  Reader& r_;
  uint32_t depth_ = 0;
};

}  // namespace nyb::jinja
