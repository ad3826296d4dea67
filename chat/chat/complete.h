// complete.h - what Tab can add to a command.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace nyb {

// What can be completed: the words that begin a line, and those of them that the name of a file follows.
struct CommandWords {
  std::vector<std::string> all, take_file;
};

struct Completion {
  std::string insert;                // goes in at the cursor
  std::vector<std::string> choices;  // where there are several, sorted; each as it is shown
};

// `before` is the line up to the cursor. A line that begins with no '/' has no completion. The name of a file is all that
// follows the command, spaces included, as it is; a leading ~ is the home folder.
Completion complete(const CommandWords& words, std::string_view before);

// The choices in columns, as many as fit; a line each ends with a newline. Many are cut short.
std::string choice_table(const std::vector<std::string>& choices, int columns);

}  // namespace nyb
