// input.cpp - reading with read(2): a signal must end a read, which iostreams hide.
#include "common/input.h"
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>
#include "common/app.h"
#include "common/fd.h"
#include "kern/signal_mask.h"

namespace nyb {
namespace {

constexpr size_t kMostText = size_t{1} << 30;
constexpr size_t kPart = 65536;  // read at once; on the heap, since a stack may be that small

std::string read_fd(int fd, const std::string& name) {
  std::string all;
  std::vector<char> part(kPart);
  for (;;) {
    if (!wait_readable(fd)) throw Interrupted{};
    const ssize_t n = read(fd, part.data(), part.size());
    if (n == 0) return all;
    if (n < 0) {
      if (errno == EINTR || errno == EAGAIN) continue;
      throw Error(fmt::format("cannot read {}: {}", name, std::strerror(errno)));
    }
    all.append(part.data(), static_cast<size_t>(n));
    if (all.size() > kMostText) throw Error(fmt::format("{} is over 1 GiB, more than a text to read can be", name));
  }
}

}  // namespace

bool wait_readable(int fd, int timeout_ms, bool (*woken)()) {
  const SignalsBlocked blocked(signal_set({SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGCONT, SIGWINCH}));
  while (!woken()) {
    pollfd p{fd, POLLIN, 0};
    const timespec limit{timeout_ms / 1000, (timeout_ms % 1000) * 1000000L};
    const int n = ppoll(&p, 1, timeout_ms < 0 ? nullptr : &limit, &blocked.before());
    if (n < 0 && errno == EINTR) continue;
    return n != 0;  // also for an error: read will tell
  }
  return false;
}

std::string read_whole(const std::string& path) {
  const std::string name = fmt::format("'{}'", human_words(path));
  const Fd f(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (f.fd < 0 && errno == EINTR) throw Interrupted{};
  if (f.fd < 0) throw Error(fmt::format("cannot open {}: {}", name, std::strerror(errno)));
  struct stat st {};
  if (fstat(f.fd, &st) == 0 && S_ISDIR(st.st_mode)) throw Error(fmt::format("{} is a folder; a file of text is wanted", name));
  return read_fd(f.fd, name);
}

std::string read_whole_stdin() { return read_fd(0, "standard input"); }

bool stdin_is_terminal() {
  static const bool is = isatty(0) == 1;
  return is;
}

std::string expand_home(std::string_view path) {
  const char* home = std::getenv("HOME");
  if (!home || !*home || !(path == "~" || path.starts_with("~/"))) return std::string(path);
  return home + std::string(path.substr(1));
}

std::string_view without_newline(std::string_view text) {
  if (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
  return text;
}

LineReader::Got LineReader::next_physical(std::string& line) {
  for (;;) {
    if (const size_t end = buffer_.find('\n'); end != std::string::npos) {
      line = without_newline(std::string_view(buffer_).substr(0, end + 1));
      buffer_.erase(0, end + 1);
      return Got::line;
    }
    if (ended_) {
      if (buffer_.empty()) return Got::end;
      line = std::move(buffer_);  // the last line lacks its newline
      buffer_.clear();
      return Got::line;
    }
    if (!wait_readable(0)) return Got::interrupted;
    std::vector<char> part(kPart);
    const ssize_t n = read(0, part.data(), part.size());
    if (n > 0) {
      buffer_.append(part.data(), static_cast<size_t>(n));
    } else if (n == 0 || errno == EIO) {  // EIO: the terminal is gone
      ended_ = true;
    } else if (errno != EINTR && errno != EAGAIN) {
      throw Error(fmt::format("cannot read standard input: {}", std::strerror(errno)));
    }
  }
}

bool LineReader::line_waiting() { return buffer_.find('\n') != std::string::npos || (!ended_ && wait_readable(0, kPasteMs)); }

LineReader::Got LineReader::next(std::string& line, bool alone) {
  const Got got = next_physical(line);
  if (got != Got::line || !stdin_is_terminal() || (alone && line.starts_with('/'))) return got;
  while (line_waiting()) {
    std::string more;
    // End of input after a paste is seen again by the next call.
    if (next_physical(more) != Got::line) break;
    line += '\n';
    line += more;
  }
  return Got::line;
}

}  // namespace nyb
