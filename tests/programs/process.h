// process.h - runs a program to its end, or at a terminal, and tells what it wrote.
#pragma once
#include <sys/types.h>
#include <chrono>
#include <string>
#include <vector>

namespace nyb::test {

using Args = std::vector<std::string>;

struct RunOptions {
  std::string in{};                               // piped in; empty: /dev/null
  bool in_pipe = false;                           // a pipe also where `in` is empty
  bool hold_in = false;                           // the pipe stays open after `in`, as that of a program that still thinks
  std::vector<std::string> env{};                 // NAME=VALUE, or NAME to remove it; the rest is the test's own, without NYBBLE_*
  bool bare_env = false;                          // only `env`
  std::string cwd{};                              // empty: the test's
  int close_fd = -1;                              // one of 0..2 that the program starts without
  long long close_out_after = -1;                 // the reader of stdout goes away after so many bytes
  std::string interrupt_on{};                     // SIGINT is sent once stderr and stdout together hold this, ...
  size_t interrupt_out = 0;                       // ... stdout so many bytes, ...
  std::chrono::milliseconds interrupt_after{-1};  // ... and so much time has passed since; negative: never
  int interrupt_signal = 2;
  std::chrono::seconds timeout{120};
};

struct Ran {
  int code = -1;  // exit code; -1: ended by a signal
  int signal = 0;
  bool timed_out = false;
  std::string out, err;
};

Ran run(const Args& argv, const RunOptions& o = {});

// A program at a terminal of its own (80 x 24, echo off so that `seen` holds the program's words only). HOME and XDG_STATE_HOME are
// folders of the test, unless `env` says otherwise.
class Pty {
 public:
  explicit Pty(const Args& argv, const std::vector<std::string>& env = {}, bool stdout_piped = false);
  ~Pty();  // kills what still runs
  void type(const std::string& text);
  void signal(int number);
  // Reads until the program's words from the last wait on hold `text`; false when it does not come.
  bool wait(const std::string& text, std::chrono::seconds limit = std::chrono::seconds(20));
  void resize(unsigned short rows, unsigned short columns);
  void hang_up();             // the terminal goes away
  std::string modes() const;  // the state of the terminal, to compare
  bool more(size_t bytes);    // reads until that many more have come; false when they do not
  bool look();                // reads for a moment; false when nothing can come any more
  bool ended(std::chrono::seconds limit = std::chrono::seconds(20));  // waits for the end, which finish() tells
  int finish(std::chrono::seconds limit = std::chrono::seconds(20));  // exit code; -1: a signal; -2: it did not end
  std::string began;                                                  // modes() before the program did anything
  std::string seen;                                                   // all of it
  std::string out;                                                    // stdout where it is piped
  Pty(const Pty&) = delete;
  Pty& operator=(const Pty&) = delete;

 private:
  bool pump(int ms);
  int status_ = 0;
  int master_ = -1, out_ = -1;  // the terminal's other side, until it ends; stdout where it is piped
  int control_ = -1;            // the other side for as long as we like
  pid_t pid_ = -1;
  size_t from_ = 0;
};

}  // namespace nyb::test
