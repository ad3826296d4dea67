// parser.cpp - the tree of a template's statements.
#include "text/jinja/parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

namespace nyb::jinja {
namespace {

class Parser {
 public:
  explicit Parser(std::string_view source) : r_(tokens_of(source)), e_(r_) {}

  Block run() {
    Block all = block({});
    if (r_.look().kind != Token::end) fail_at(r_.look().line, fmt::format("{{% {} %}} closes nothing", shown(r_.look(1).value)));
    return all;
  }

 private:
  bool at_end(std::initializer_list<std::string_view> words) const {
    return std::any_of(words.begin(), words.end(), [&](std::string_view w) { return r_.at_word(w, 1); });
  }

  // Up to {% WORD, one of `words`, which stays; without words up to the end, or to what closes nothing.
  Block block(std::initializer_list<std::string_view> words) {
    const uint32_t line = r_.look().line;
    if (++depth_ > kMostHeight) fail_at(line, fmt::format("more than {} things within each other", kMostHeight));
    Block out;
    while (r_.look().kind != Token::end) {
      const Token& t = r_.look();
      if (t.kind == Token::text) {
        out.push_back(node_of(Node::text, t.line, t.value));
        r_.next();
      } else if (t.kind == Token::print_open) {
        out.push_back(print());
      } else {
        if (at_end(words) ||
            (words.size() == 0 && (r_.look(1).value.starts_with("end") || r_.at_word("else", 1) || r_.at_word("elif", 1))))
          break;
        out.push_back(statement());
      }
    }
    if (r_.look().kind == Token::end && words.size() > 0) fail_at(line, fmt::format("there is no {{% {} %}}", *(words.end() - 1)));
    --depth_;
    return out;
  }

  NodePtr print() {
    NodePtr node = node_of(Node::print, r_.next().line);
    node->kids.push_back(e_.expression());
    if (r_.look().kind != Token::print_close) r_.refuse("\"}}\"");
    r_.next();
    return finished(std::move(node));
  }

  void close() {
    if (r_.look().kind != Token::block_close) r_.refuse("\"%}\"");
    r_.next();
  }

  // {% WORD %}
  void closing() {
    r_.next();
    r_.next();
    close();
  }

  NodePtr statement() {
    r_.next();
    const Token word = r_.look();
    const std::string name = r_.want_name("the name of a statement");
    if (name == "set") return set(word.line);
    if (name == "if") return condition(word.line);
    if (name == "for") return loop(word.line);
    if (name == "macro") return macro(word.line);
    if (name == "call") return call_block(word.line);
    if (name == "filter") return filter_block(word.line);
    if (name != "break" && name != "continue") fail_at(word.line, fmt::format("{{% {} %}} is not understood", shown(name)));
    if (loops_ == 0) fail_at(word.line, fmt::format("{{% {} %}} stands in no loop", name));
    close();
    return node_of(name == "break" ? Node::break_loop : Node::next_round, word.line);
  }

  NodePtr set(uint32_t line) {
    NodePtr node = node_of(Node::set, line);
    NodePtr target = e_.targets();
    while (r_.sign(".")) {
      NodePtr member = node_of(Node::member, line, r_.want_name("the name of a member"));
      member->kids.push_back(std::move(target));
      target = finished(std::move(member));
    }
    node->kids.push_back(std::move(target));
    if (r_.sign("=")) {
      node->kids.push_back(e_.sequence());
      close();
    } else {
      node->kids.push_back(nullptr);
      close();
      node->blocks.push_back(block({"endset"}));
      closing();
    }
    return finished(std::move(node));
  }

  NodePtr condition(uint32_t line) {
    NodePtr node = node_of(Node::condition, line);
    for (bool last = false; !last;) {
      node->kids.push_back(e_.expression());
      close();
      node->blocks.push_back(block({"elif", "else", "endif"}));
      last = !r_.at_word("elif", 1);
      if (last) continue;
      r_.next();
      r_.next();
    }
    if (r_.at_word("else", 1)) {
      closing();
      node->kids.push_back(nullptr);
      node->blocks.push_back(block({"endif"}));
    }
    closing();
    return finished(std::move(node));
  }

  NodePtr loop(uint32_t line) {
    NodePtr node = node_of(Node::loop, line);
    node->kids.push_back(e_.targets());
    if (!r_.word("in")) r_.refuse("\"in\"");
    NodePtr over = e_.expression(), only;
    if (over->kind == Node::choice && !over->kids[2]) {  // for x in xs if y
      only = std::move(over->kids[0]);
      over = std::move(over->kids[1]);
    }
    node->kids.push_back(std::move(over));
    node->kids.push_back(std::move(only));
    close();
    ++loops_;
    node->blocks.push_back(block({"else", "endfor"}));
    --loops_;
    if (r_.at_word("else", 1)) {
      closing();
      node->blocks.push_back(block({"endfor"}));
    } else {
      node->blocks.emplace_back();
    }
    closing();
    return finished(std::move(node));
  }

  // The body of a macro is in no loop, wherever the macro stands.
  Block body(std::string_view end) {
    const size_t loops = std::exchange(loops_, 0);
    Block out = block({end});
    loops_ = loops;
    closing();
    return out;
  }

  NodePtr macro(uint32_t line) {
    NodePtr node = node_of(Node::macro, line, r_.want_name("the name of a macro"));
    r_.want_sign("(");
    node->arguments = e_.parameters();
    close();
    node->blocks.push_back(body("endmacro"));
    return finished(std::move(node));
  }

  NodePtr call_block(uint32_t line) {
    NodePtr node = node_of(Node::call_block, line);
    if (r_.sign("(")) node->arguments = e_.parameters();
    node->kids.push_back(e_.expression());
    if (node->kids[0]->kind != Node::call) fail_at(line, "{% call %} calls nothing");
    close();
    node->blocks.push_back(body("endcall"));
    return finished(std::move(node));
  }

  NodePtr filter_block(uint32_t line) {
    NodePtr filter = node_of(Node::filter, line, r_.want_name("the name of a filter"));
    filter->kids.push_back(nullptr);
    if (r_.sign("(")) filter->arguments = e_.arguments();
    NodePtr node = node_of(Node::filter_block, line);
    node->kids.push_back(finished(std::move(filter)));
    close();
    node->blocks.push_back(block({"endfilter"}));
    closing();
    return finished(std::move(node));
  }

  Reader r_;
  ExpressionParser e_;
  size_t loops_ = 0;  // around what is read
  uint32_t depth_ = 0;
};

}  // namespace

Block parse(std::string_view source) { return Parser(source).run(); }

}  // namespace nyb::jinja
