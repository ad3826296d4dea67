// node.h - the tree of a template.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace nyb::jinja {

struct Node;
using NodePtr = std::unique_ptr<Node>;
using Block = std::vector<NodePtr>;

// An argument of a call, or a parameter of a macro (named: one with a default).
struct Argument {
  enum Kind { plain, named, spread, named_spread };
  Kind kind = plain;
  std::string name;
  NodePtr value;  // of a parameter without a default: none
};

struct Node {
  enum Kind {
    // expressions
    text,     // `name` is the text
    integer,  // `number`
    real,
    variable,  // `name`
    list,      // kids
    tuple,     // kids
    dict,      // kids: key, value, key, value ...
    member,    // kids[0] . name
    index,     // kids[0] [ kids[1] ]
    slice,     // kids[0] [ kids[1] : kids[2] : kids[3] ], the last three may be null
    call,      // kids[0] ( arguments )
    filter,    // kids[0] | name ( arguments )
    test,      // kids[0] is name ( arguments ); `negated`
    unary,     // name kids[0]
    binary,    // kids[0] name kids[1]
    choice,    // kids[1] if kids[0] else kids[2], which may be null
    // statements
    print,         // kids[0]
    set,           // kids[0] = kids[1], or the text of blocks[0] where kids[1] is null
    condition,     // of each kids[i] that is true the first: blocks[i]; a null one is true
    loop,          // for kids[0] in kids[1] if kids[2] (may be null): blocks[0]; where none came blocks[1]
    macro,         // name, arguments, blocks[0]
    call_block,    // kids[0] is a call; arguments of the caller; blocks[0]
    filter_block,  // kids[0] is a filter whose own kids[0] is null; blocks[0]
    break_loop,
    next_round
  };
  Kind kind;
  uint32_t line;
  std::string name;
  double number = 0;
  bool negated = false;
  std::vector<NodePtr> kids;
  std::vector<Argument> arguments;
  std::vector<Block> blocks;
  uint32_t height = 1;  // of the tree from here down
};

// The tree of a template. Throws Error naming the line and what is not understood. Trees are at most kMostHeight high.
constexpr uint32_t kMostHeight = 120;
Block parse(std::string_view source);

}  // namespace nyb::jinja
