// commands.h - the commands at the prompt.
#pragma once
#include <string>
#include <string_view>
#include <vector>
#include "chat/session.h"

namespace nyb {

struct Command {
  std::string word;      // "/save"
  std::string argument;  // "FILE", or nothing
  std::string help;
  bool file = false;  // the argument names a file
  void (*run)(Session&, const std::string& argument);
};

// All of them, in the order in which /help has them; /quit has no `run`.
const std::vector<Command>& command_list();

// Their words, and those whose argument is a file, for completion.
CommandWords command_words();

// Runs a line that begins with '/'. false: leave. Throws Error; what is unknown is said.
bool command_run(Session& s, std::string_view line);

}  // namespace nyb
