// value.h - what a template computes with, and where it lives.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>
#include "text/jinja/marked.h"
#include "text/jinja/node.h"

namespace nyb::jinja {

struct Array;
struct Dict;
struct Function;
struct Undefined {};
struct None {};
struct Number {
  double value;  // a whole one too, as the reference has it
  bool whole;
};

// Lists, dicts and functions belong to a Heap: a value is small, may be part of a cycle, and frees nothing.
using Value = std::variant<Undefined, None, bool, Number, std::shared_ptr<const Marked>, Array*, Dict*, const Function*>;

struct Array {
  std::vector<Value> items;
  bool tuple = false;
};

struct Dict {
  std::vector<std::pair<Marked, Value>> members;  // in the order in which they came
  bool is_namespace = false;
  Value* find(std::string_view key);
  void put(const Marked& key, Value value);
};

// Variables; what is not found in one is looked for in the one around it.
struct Scope {
  Scope* around = nullptr;
  std::vector<std::pair<std::string_view, Value>> variables;  // their names are the tree's, or outlive it
  const Value* find(std::string_view name) const;
  void put(std::string_view name, Value value);
};

struct Function {
  enum Kind { macro, caller, method, global };
  Kind kind;
  const Node* node = nullptr;  // of a macro and a caller
  Scope* scope = nullptr;      // of a caller: where it was written
  std::string_view name;       // of a method and a global
  Value self;                  // of a method
};

// Where the values of one rendering live, and what it may cost: a template must not take all memory or time.
class Heap {
 public:
  uint32_t line = 1;  // of what is being done

  // Throws where all that was spent is too much. One step is an operation, an element of a list or 16 bytes of text.
  void spend(size_t steps);
  void spend_text(size_t bytes) { spend(1 + bytes / 16); }
  [[noreturn]] void fail(const std::string& what) const;  // naming the line

  Value text(Marked m);
  Value text(std::string_view s) { return text(Marked(s)); }
  Value array(std::vector<Value> items, bool tuple = false);
  Dict* dict(bool is_namespace = false);
  Value function(Function f);
  Scope* scope(Scope* around);

 private:
  size_t spent_ = 0;
  std::deque<Array> arrays_;
  std::deque<Dict> dicts_;
  std::deque<Function> functions_;
  std::deque<Scope> scopes_;
};

Value whole(double v);
inline const Marked* text_of(const Value& v) {
  const auto* p = std::get_if<std::shared_ptr<const Marked>>(&v);
  return p ? p->get() : nullptr;
}
inline Array* array_of(const Value& v) {
  Array* const* p = std::get_if<Array*>(&v);
  return p ? *p : nullptr;
}
inline Dict* dict_of(const Value& v) {
  Dict* const* p = std::get_if<Dict*>(&v);
  return p ? *p : nullptr;
}
inline const Number* number_of(const Value& v) { return std::get_if<Number>(&v); }
inline bool is_undefined(const Value& v) { return std::holds_alternative<Undefined>(v); }
inline bool is_none(const Value& v) { return std::holds_alternative<None>(v); }

const char* kind_of(const Value& v);  // "a list"
bool truth(const Value& v);
// The reference compares as JavaScript does: of lists and dicts whether they are the same one; "1" equals 1, none equals undefined.
// `strict`: no two kinds are equal.
bool equal(Heap& h, const Value& a, const Value& b, bool strict = false);

std::string number_text(double v);            // 1 or 0.5
Marked printed(Heap& h, const Value& v);      // as {{ v }} prints it
Marked joined_text(Heap& h, const Value& v);  // as "" ~ v has it: whole floats without ".0"

struct JsonStyle {
  size_t indent = 0;  // 0: one line
  bool ascii = false, sorted = false;
  Marked between{", "}, colon{": "};
};
Marked json(Heap& h, const Value& v, const JsonStyle& style = {});

}  // namespace nyb::jinja
