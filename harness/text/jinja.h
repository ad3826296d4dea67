// jinja.h - the part of Jinja that a chat template of fixed frames is written in: text, outputs and blocks, taken apart.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace nyb {

struct JinjaToken {
  enum Kind { word, text, sign };  // a name, a string (its value), a punctuation mark
  Kind kind;
  std::string value;
  bool is(Kind k, std::string_view v) const { return kind == k && value == v; }
};

struct JinjaNode {
  enum Kind { text, output, block };  // what stands outside of tags; {{ ... }}; {% ... %}
  Kind kind;
  std::string source;              // of a tag, as written: for errors
  std::string value;               // of a text: what it prints, white space control done
  std::vector<JinjaToken> tokens;  // of a tag
};

// The nodes of a template in order. White space as Hugging Face renders: trim_blocks and lstrip_blocks, the dashes of tags,
// no newline at the end; comments leave. Throws Error saying which piece is not Jinja of this kind.
std::vector<JinjaNode> jinja_nodes(std::string_view source);

// A piece of a template as an error shows it: one line, not too long.
std::string jinja_quote(std::string_view piece);

}  // namespace nyb
