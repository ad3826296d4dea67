// interp.h - runs a template's tree.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#include "text/jinja/node.h"
#include "text/jinja/value.h"

namespace nyb::jinja {

// What strftime_now tells: one moment for all of a conversation.
struct Moment {
  int year = 2000, month = 1, day = 1, hour = 0, minute = 0;
};

// The arguments of a call.
struct Args {
  std::vector<Value> plain;
  std::vector<std::pair<std::string, Value>> named;
  // The argument at `i`, or of that name; nullptr: it was not given.
  const Value* find(size_t i, std::string_view name) const;
  const Value* find(std::string_view name) const;
};

class Interp {
 public:
  Interp(Heap& heap, const Moment& now) : h(heap), now_(now) {}

  enum class Flow { on, next_round, break_loop };
  Flow run(const Block& block, Scope& scope, Marked& out);
  Value evaluate(const Node& node, Scope& scope);
  // `scope` is where it is called from.
  Value call(const Value& function, Args args, Scope& scope);

  // The functions of all templates: `name` is one of them. Methods: of the value self.
  static bool is_global(std::string_view name);
  Value global(std::string_view name, const Args& args);
  static std::string_view method_name(const Value& self, std::string_view name);  // its own copy of the name; empty: no method
  Value method(const Value& self, std::string_view name, const Args& args);
  Value filter(const std::string& name, const Value& self, const Args& args);
  bool test(const std::string& name, const Value& self, const Value* other);

  // An argument of some kind, or what stands for it where it was not given. Throw.
  bool flag(const Value* v, bool otherwise, const char* what);
  std::optional<long> whole_number(const Value* v, const char* what);  // none: not given, undefined or none
  const Marked& text(const Value* v, const char* what);                // must be given

  Heap& h;

 private:
  // Counts how deep it goes: a macro may call itself, and the stack must last.
  struct Deeper {
    Interp& in;
    explicit Deeper(Interp& i) : in(i) {
      if (++in.depth_ > kMostDepth) in.h.fail("the template calls itself too deep");
    }
    ~Deeper() { --in.depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;
  };
  static constexpr size_t kMostDepth = 400;  // of calls within expressions within blocks
  Value print_node(const Node& node, Scope& scope);
  void set(const Node& node, Scope& scope);
  void assign(const Node& target, const Value& value, Scope& scope);
  Flow condition(const Node& node, Scope& scope, Marked& out);
  void loop(const Node& node, Scope& scope, Marked& out);
  void call_block(const Node& node, Scope& scope, Marked& out);
  void bind(const Node& node, const Args& args, Scope& scope);
  Value run_body(const Node& node, const Args& args, Scope& scope);

  Args arguments(const std::vector<Argument>& list, Scope& scope);
  Value variable(const Node& node, const Scope& scope);
  Value literal(const Node& node, Scope& scope);
  Value member(const Value& of, const Marked& name);
  Value index(const Node& node, Scope& scope);
  Value slice(const Node& node, Scope& scope);
  Value unary(const Node& node, Scope& scope);
  Value binary(const Node& node, Scope& scope);
  Value arithmetic(const std::string& op, const Value& a, const Value& b);
  std::optional<bool> contains(const Value& all, const Value& one);
  Value strftime(const Marked& format);

  const Moment& now_;
  size_t depth_ = 0;
};

}  // namespace nyb::jinja
