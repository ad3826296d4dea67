// app.h - what every program shares: how it starts, how it fails, how it is interrupted.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>
#include "common/cli.h"
#include "kern/error.h"

namespace nyb {

// Parses argv into `app` (words like kernel=avx2 become --kernel avx2 first), then runs body. Exit codes: what body returns
// (0: done); 1 for an Error, printed as one sentence on stderr; 2 for wrong usage, also CLI11's own; 130 when interrupted.
// A reader of stdout that went away (`| head -1`) ends the program quietly with 0, unless out_optional() was called. Adds
// --version. The program is named as it was called; `app` needs a name for where the caller gave none.
int app_run(CLI::App& app, int argc, char** argv, const std::function<int()>& body);

// The name the program was called by, without folders: nybble-chat where it is installed.
const std::string& program_name();
// One line on stderr that begins with that name. `what` may hold anything: it is made printable.
void say(std::string_view what);

// The words of a command line as CLI11 should see them: NAME=VALUE becomes --NAME VALUE where NAME is an option of `app` and
// the word is not the value of the option before it; --NAME=VALUE becomes two words, so that VALUE may be empty.
std::vector<std::string> app_words(const CLI::App& app, const std::vector<std::string>& words);

// Wrong usage that only the body can see: exit code 2.
struct UsageError : Error {
  using Error::Error;
};

// Ctrl+C, SIGTERM and SIGHUP set a flag (installed by app_run) that long work looks at; interrupted() tells, interrupt_clear()
// takes it back, but not after SIGTERM and SIGHUP: then interrupted() stays true. A second signal before the flag was taken back
// ends the process at once with 130.
bool interrupted();
void interrupt_clear();
const std::atomic<bool>& interrupt_flag();  // the flag itself, for work that knows nothing of programs

// Thrown by work that stopped because interrupted() was set; app_run turns it into exit code 130.
struct Interrupted {};

// Writes all of it to stdout, unbuffered. Throws Error when it cannot (a full disk); when nobody reads any more, app_run ends
// the program quietly.
void out_write(std::string_view text);
// From here on what the program is for is not only on stdout but in its exit code, a file or stderr as well: where nobody reads
// stdout any more, out_write loses its text and the work goes on.
void out_optional();
// Writes to stderr; what cannot be written is lost.
void err_write(std::string_view text);

bool stderr_is_terminal();
bool stderr_has_colour();  // a terminal, not TERM=dumb, and NO_COLOR unset or empty

// A progress bar on stderr: drawn only where stderr is a terminal, and for work that takes longer than a moment; removed when
// done.
class Progress {
 public:
  Progress(std::string what, uint64_t total, bool enabled);
  ~Progress();
  void at(uint64_t done);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

 private:
  std::string what_;
  uint64_t total_;
  bool on_;
  int last_ = -1;
  std::chrono::steady_clock::time_point drawn_;  // last; before that, when the work began
};

// For work that reports how far it is: draws a Progress from its first report on until the function goes, and throws Interrupted
// once interrupted() is set.
std::function<void(uint64_t done, uint64_t total)> progress_reporter(std::string what, bool enabled);

std::string human_bytes(uint64_t n);             // "4.9 MB": decimal units, named as such
std::string human_count(uint64_t n);             // "4.95M"
std::string human_words(std::string_view text);  // printable(): one line, nothing that a terminal obeys
std::string program_version();                   // "0.1.0"
std::string self_folder();                       // of the running program's own file

}  // namespace nyb
