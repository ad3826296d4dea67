// history.cpp - one file, several writers: each locks it, and looks whether it is still the one that has the name.
#include "chat/history.h"
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include "common/fd.h"
#include "common/folders.h"
#include "common/input.h"
#include "common/signals.h"
#include "kern/error.h"
#include "model/out_file.h"

namespace nyb {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLongest = 65536;
constexpr int kLockTries = 100;
constexpr useconds_t kLockPause = 10000;  // µs: a writer is done in much less

std::string escaped_line(std::string_view entry) {
  std::string out;
  for (const char c : entry) {
    switch (c) {
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\0': out += "\\0"; break;
      default: out += c;
    }
  }
  return out;
}

std::string plain(std::string_view line) {
  std::string out;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\\' || i + 1 == line.size()) {
      out += line[i];
      continue;
    }
    switch (line[++i]) {
      case 'n': out += '\n'; break;
      case 'r': out += '\r'; break;
      case '0': out += '\0'; break;
      default: out += line[i];
    }
  }
  return out;
}

// The last `most` lines; a last one without its newline is whole all the same.
std::vector<std::string_view> last_lines(std::string_view all, size_t most) {
  std::vector<std::string_view> lines;
  while (!all.empty()) {
    const size_t end = all.find('\n');
    if (const std::string_view line = all.substr(0, end); !line.empty()) lines.push_back(line);
    all.remove_prefix(end == std::string_view::npos ? all.size() : end + 1);
  }
  if (lines.size() > most) lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(most));
  return lines;
}

[[noreturn]] void fail(const std::string& path, int error) {
  throw Error(fmt::format("the history is not kept: '{}': {}", path, std::strerror(error)));
}

// Waits a second at most: whoever holds it that long has been stopped, and a line is appended in one piece all the same.
void lock(int fd) {
  for (int i = 0; i < kLockTries && flock(fd, LOCK_EX | LOCK_NB) != 0 && (errno == EWOULDBLOCK || errno == EINTR); ++i)
    usleep(kLockPause);
}

bool has_the_name(int fd, const std::string& path) {
  struct stat mine {
  }, named{};
  return fstat(fd, &mine) == 0 && stat(path.c_str(), &named) == 0 && mine.st_ino == named.st_ino && mine.st_dev == named.st_dev;
}

void make_folder(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  std::error_code ec;
  if (fs::is_directory(folder, ec)) return;
  fs::create_directories(folder, ec);
  if (ec) fail(folder.string(), ec.value());
  fs::permissions(folder, fs::perms::owner_all, ec);
}

}  // namespace

std::optional<std::string> history_place() {
  const std::optional<std::string> folder = xdg_folder("XDG_STATE_HOME", ".local/state");
  return folder ? std::optional<std::string>(*folder + "/history") : std::nullopt;
}

bool history_takes(std::string_view entry) {
  return !entry.empty() && entry[0] != ' ' && entry.size() <= kLongest && entry != "/quit" && !entry.starts_with("/quit ");
}

std::vector<std::string> History::read() const {
  struct stat st {};
  if (stat(path_.c_str(), &st) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return {};
    fail(path_, errno);
  }
  if (S_ISCHR(st.st_mode)) return {};  // a link to /dev/null is a wish for none
  if (!S_ISREG(st.st_mode)) throw Error(fmt::format("the history is not kept: '{}' is no regular file", path_));
  const std::string all = read_whole(path_);
  std::vector<std::string> entries;
  for (const std::string_view line : last_lines(all, kMost)) entries.push_back(plain(line));
  return entries;
}

void History::add(std::string_view entry) const {
  make_folder(path_);
  for (;;) {
    const Fd file(open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0600));
    if (file.fd < 0) fail(path_, errno);
    struct stat st {};
    if (fstat(file.fd, &st) != 0) fail(path_, errno);
    if (S_ISCHR(st.st_mode)) return;
    if (!S_ISREG(st.st_mode)) throw Error(fmt::format("the history is not kept: '{}' is no regular file", path_));
    lock(file.fd);
    if (!has_the_name(file.fd, path_)) continue;  // another program has just replaced it
    if ((st.st_mode & 077) != 0) (void)fchmod(file.fd, 0600);
    const std::string all = read_whole(path_);
    std::vector<std::string_view> lines = last_lines(all, kMost);
    const std::string line = escaped_line(entry);
    if (!lines.empty() && lines.back() == line) return;
    if (lines.size() < kMost) {
      const off_t before = lseek(file.fd, 0, SEEK_END);
      const bool cut = !all.empty() && all.back() != '\n';
      if (const int error = fd_write(file.fd, fmt::format("{}{}\n", cut ? "\n" : "", line)); error != 0) {
        (void)!ftruncate(file.fd, before);
        fail(path_, error);
      }
      return;
    }
    lines.erase(lines.begin());
    lines.push_back(line);
    write_whole(path_, fmt::format("{}\n", fmt::join(lines, "\n")));  // as private as the one it replaces
    return;
  }
}

}  // namespace nyb
