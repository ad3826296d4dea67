// go_template.h - a chat template in the form of Go's text/template, as Ollama's Modelfiles have it.
#pragma once
#include <string>
#include <string_view>
#include <vector>
#include "text/tokenizer.h"

namespace nyb {

struct GoTemplate {
  std::string text;   // over .System and .Messages
  std::string notes;  // what it does not do as the model's own template does; empty: nothing is known
};

// Told from what the model's template (Jinja) prints for a few conversations in which a reply is next: the texts between the
// messages, and what stands there without a system message. Where such texts in their order are not what it prints for others, it
// depends on more, and Error says so. BOS at the beginning is left out where the tokenizer puts it there. Throws Error also where
// the template cannot be read.
GoTemplate go_template(std::string_view jinja, const Tokenizer& tok);

}  // namespace nyb
