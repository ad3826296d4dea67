// jinja.h - the Jinja that chat templates are written in.
//
// It renders as @huggingface/jinja does, byte for byte, white space as transformers sets it (trim_blocks and lstrip_blocks on).
// What comes out remembers, through all that a template does to it, which bytes are whose.
#pragma once
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>
#include "text/jinja/interp.h"

namespace nyb::jinja {

// What a variable of a template begins as: nothing (none), a boolean, a number, a text with its origins, or a list or dict of
// these.
Value value_of(Heap& h, const nlohmann::ordered_json& j, Origin origin);

class Template {
 public:
  // Throws Error "the chat template, line 7: ..." for what is not understood.
  explicit Template(std::string_view source) : body_(parse(source)) {}

  // `heap` holds the variables' values. Throws Error likewise where the template refuses, cannot go on or does too much.
  Marked render(Heap& heap, const std::vector<std::pair<std::string_view, Value>>& variables, const Moment& now) const;

 private:
  Block body_;
};

}  // namespace nyb::jinja
