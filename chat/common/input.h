// input.h - text that comes in: whole files, standard input, and its lines as messages.
#pragma once
#include <string>
#include <string_view>

namespace nyb {

// Ctrl+C, SIGTERM or SIGHUP came (app.h).
bool interrupted();

constexpr int kPasteMs = 10;  // lines of a paste arrive closer together than anybody types

// Waits until fd has something to read (or has ended). false: a signal came first, and made `woken` true. No signal is missed
// between looking and sleeping. timeout_ms < 0: for ever; else false as well when the time is over.
bool wait_readable(int fd, int timeout_ms = -1, bool (*woken)() = interrupted);

// All of a file, a pipe or a device. Throws Error naming it: absent, a folder, no permission, over 1 GiB; Interrupted.
std::string read_whole(const std::string& path);
std::string read_whole_stdin();

bool stdin_is_terminal();

// A leading ~ or ~/ becomes $HOME, where there is one; any other path stays.
std::string expand_home(std::string_view path);

// Text without one newline at its end, as editors and `echo` add it.
std::string_view without_newline(std::string_view text);

// Lines of standard input. At a terminal a paste of several lines comes as one, since its lines arrive together; a line
// that begins with '/' stands alone.
class LineReader {
 public:
  enum class Got { line, end, interrupted };
  // Without its newline. `alone`: one that begins with '/' is no paste.
  Got next(std::string& line, bool alone = true);

 private:
  Got next_physical(std::string& line);
  bool line_waiting();
  std::string buffer_;
  bool ended_ = false;
};

}  // namespace nyb
