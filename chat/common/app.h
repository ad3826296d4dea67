// app.h - what every program shares: how it starts, how it fails, how it is interrupted.
#pragma once
#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace nyb {

// Parses argv into `app` (words like kernel=avx2 become --kernel avx2 first), then runs body. Exit codes: what body returns
// (0: done); 1 for an Error, printed as one sentence on stderr; 2 for wrong usage, also CLI11's own; 130 when interrupted.
// Adds --version.
int app_run(CLI::App& app, int argc, char** argv, const std::function<int()>& body);

// Ctrl+C and SIGTERM set a flag (installed by app_run) that long work looks at; interrupted() tells, interrupt_clear() takes it back.
bool interrupted();
void interrupt_clear();

// Thrown by work that stopped because interrupted() was set; app_run turns it into exit code 130.
struct Interrupted {};

// A progress bar on stderr: drawn only where stderr is a terminal; removed when done.
class Progress {
 public:
  Progress(std::string what, uint64_t total, bool enabled);
  ~Progress();
  void at(uint64_t done);

 private:
  std::string what_;
  uint64_t total_;
  bool on_;
  int last_ = -1;
};

std::string human_bytes(uint64_t n);    // "4.9 MB": decimal units, named as such
std::string human_count(uint64_t n);    // "4.95M"
std::string self_folder();              // of the running program's own file

}  // namespace nyb
