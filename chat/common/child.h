// child.h - another program, run to its end without a shell.
#pragma once
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace nyb {

// The words of a command as a shell splits them, and nothing else of a shell: spaces separate, '...' is taken as it stands, within
// "..." and outside a backslash takes the next character as it stands. Throws Error for a quote that is not closed, and for no
// word.
std::vector<std::string> command_words(std::string_view command);

struct ChildResult {
  int code = 0, signal = 0;  // it ended with this exit code, or was ended by this signal
  bool late = false;         // it took longer than it may, and was ended for that
  std::string out, err;

  bool good() const { return code == 0 && signal == 0 && !late; }
};

// Runs words[0], looked for in PATH, with `in` as its standard input, and collects what it writes, up to 64 MiB. It is a process
// group of its own: however this returns, nothing of that group goes on. Throws Error where it cannot be started or
// writes more than that; Interrupted after Ctrl+C, SIGTERM or SIGHUP. SIGPIPE is ignored by the caller, as app_run has it.
ChildResult run_child(const std::vector<std::string>& words, std::string_view in, std::chrono::milliseconds limit);

// Whether PATH, or the name itself where it has a slash, leads to a program that may be run.
bool child_found(const std::string& name);

// Why it is not good: "ended with exit code 3", "was ended by signal 9 (Killed)", "took longer than 600 s".
std::string child_fault(const ChildResult& r, std::chrono::milliseconds limit);

// The last lines of what it said on stderr, each made printable and begun with two spaces and a bar; "" where it said nothing.
std::string child_said(const ChildResult& r);

}  // namespace nyb
