// lexer.h - a template taken apart: text, and the words of its tags.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nyb::jinja {

struct Token {
  enum Kind { text, block_open, block_close, print_open, print_close, name, string, number, sign, end };
  Kind kind = end;
  std::string value;  // what a text prints, a name, a string's text, the digits of a number, a sign such as "=="
  uint32_t line = 0;
  bool is(Kind k, std::string_view v) const { return kind == k && value == v; }
};

// The tokens in order, the last of the kind `end`. White space as transformers renders: trim_blocks and lstrip_blocks, the dashes
// of tags, no newline at the end; comments and {% generation %} leave. Throws Error naming the line.
std::vector<Token> tokens_of(std::string_view source);

// "the chat template, line 7: " and what.
[[noreturn]] void fail_at(uint32_t line, const std::string& what);

// A piece of a template as an error shows it: one line, not too long.
std::string shown(std::string_view piece);

}  // namespace nyb::jinja
