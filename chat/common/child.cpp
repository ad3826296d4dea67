// child.cpp - posix_spawn, three pipes, and an end that nothing survives.
#include "common/child.h"
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include "common/app.h"
#include "kern/error.h"
#include "kern/signal_mask.h"

namespace nyb {
namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t kMostWritten = size_t{64} << 20;
constexpr std::chrono::milliseconds kGrace{1000};  // between SIGTERM and SIGKILL
constexpr int kLookMs = 20;                        // how often it is looked whether it has ended
constexpr size_t kLines = 12;                      // of stderr that are shown

struct Pipe {
  Pipe() {
    if (pipe2(fd, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category());
  }
  ~Pipe() {
    end(0);
    end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void end(int side) {
    if (fd[side] >= 0) close(fd[side]);
    fd[side] = -1;
  }
  int fd[2] = {-1, -1};
};

// How the child begins: its own process group, and no signal ignored or blocked because we do.
class Start {
 public:
  Start(const Pipe& in, const Pipe& out, const Pipe& err) {
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, in.fd[0], 0);
    posix_spawn_file_actions_adddup2(&files, out.fd[1], 1);
    posix_spawn_file_actions_adddup2(&files, err.fd[1], 2);
    posix_spawnattr_init(&how);
    const sigset_t none = signal_set({}), usual = signal_set({SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXFSZ});
    posix_spawnattr_setsigmask(&how, &none);
    posix_spawnattr_setsigdefault(&how, &usual);
    posix_spawnattr_setpgroup(&how, 0);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  ~Start() {
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&how);
  }
  Start(const Start&) = delete;
  Start& operator=(const Start&) = delete;
  posix_spawn_file_actions_t files;
  posix_spawnattr_t how;
};

// Those of Ctrl+C's kind that are not ignored, as they are under nohup.
sigset_t interrupts() {
  sigset_t set = signal_set({});
  for (const int sig : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction now {};
    if (sigaction(sig, nullptr, &now) == 0 && now.sa_handler != SIG_IGN) sigaddset(&set, sig);
  }
  return set;
}

bool any_waits(const sigset_t& set) {
  sigset_t waiting;
  sigpending(&waiting);
  for (const int sig : {SIGINT, SIGTERM, SIGHUP})
    if (sigismember(&set, sig) == 1 && sigismember(&waiting, sig) == 1) return true;
  return false;
}

// A process group that ends with this. Its leader is not reaped before, so that the number stays its own.
class Group {
 public:
  explicit Group(pid_t leader) : leader_(leader) {}
  ~Group() {
    kill(-leader_, SIGTERM);
    const Clock::time_point until = Clock::now() + kGrace;
    while (!ended() && Clock::now() < until) usleep(2000);
    kill(-leader_, SIGKILL);
    int status = 0;
    while (waitpid(leader_, &status, 0) < 0 && errno == EINTR) {}
  }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  bool ended() {
    if (how.si_pid == 0) waitid(P_PID, static_cast<id_t>(leader_), &how, WEXITED | WNOHANG | WNOWAIT);
    return how.si_pid != 0;
  }
  siginfo_t how{};  // once it has ended

 private:
  pid_t leader_;
};

void set_nonblocking(int fd) { fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK); }

// Takes some of what there is; false where there is nothing now, or no more.
bool take(Pipe& p, std::string& into, const std::string& name) {
  if (p.fd[0] < 0) return false;
  char part[65536];
  const ssize_t n = read(p.fd[0], part, sizeof part);
  if (n > 0) into.append(part, static_cast<size_t>(n));
  if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN)) p.end(0);
  if (into.size() > kMostWritten)
    throw Error(fmt::format("'{}' writes without end: over {} MiB", human_words(name), kMostWritten >> 20));
  return n > 0;
}

void give(Pipe& p, std::string_view& rest) {
  const ssize_t n = write(p.fd[1], rest.data(), rest.size());
  if (n > 0) rest.remove_prefix(static_cast<size_t>(n));
  if (rest.empty() || (n < 0 && errno != EINTR && errno != EAGAIN)) p.end(1);
}

}  // namespace

std::vector<std::string> command_words(std::string_view command) {
  std::vector<std::string> words;
  bool open = false;  // a word has begun
  char quote = 0;
  for (size_t i = 0; i < command.size(); ++i) {
    const char c = command[i];
    const bool space = c == ' ' || c == '\t' || c == '\n';
    if (!quote && space) {
      open = false;
      continue;
    }
    if (!open) words.emplace_back();
    open = true;
    if (quote ? c == quote : c == '\'' || c == '"')
      quote = quote ? char{0} : c;
    else
      words.back() += c == '\\' && quote != '\'' && i + 1 < command.size() ? command[++i] : c;
  }
  if (quote) throw Error(fmt::format("the quote {} is not closed in: {}", quote, human_words(command)));
  if (words.empty() || words[0].empty()) throw Error("the command is empty");
  return words;
}

bool child_found(const std::string& name) {
  if (name.find('/') != std::string::npos) return access(name.c_str(), X_OK) == 0;
  const char* path = std::getenv("PATH");
  const std::string_view all = path ? path : "/bin:/usr/bin";
  for (size_t at = 0; at <= all.size();) {
    const size_t end = std::min(all.find(':', at), all.size());
    const std::string folder(all.substr(at, end - at));
    if (access(((folder.empty() ? "." : folder) + "/" + name).c_str(), X_OK) == 0) return true;
    at = end + 1;
  }
  return false;
}

ChildResult run_child(const std::vector<std::string>& words, std::string_view in, std::chrono::milliseconds limit) {
  // Until the child has ended, no second Ctrl+C can end us first.
  const sigset_t watched = interrupts();
  const SignalsBlocked blocked(watched);
  Pipe input, output, errors;
  pid_t pid = -1;
  {
    const Start start(input, output, errors);
    std::vector<char*> args;
    args.reserve(words.size() + 1);
    for (const std::string& w : words) args.push_back(const_cast<char*>(w.c_str()));
    args.push_back(nullptr);
    if (const int error = posix_spawnp(&pid, args[0], &start.files, &start.how, args.data(), environ))
      throw Error(fmt::format("cannot start '{}': {}", human_words(words[0]), std::strerror(error)));
  }
  Group group(pid);
  input.end(0);
  output.end(1);
  errors.end(1);
  for (const int fd : {input.fd[1], output.fd[0], errors.fd[0]}) set_nonblocking(fd);
  if (in.empty()) input.end(1);
  ChildResult r;
  const Clock::time_point until = Clock::now() + limit;
  // A child of the child may hold the pipes after the leader has ended; what it writes is not waited for.
  while (!group.ended()) {
    if (interrupted() || any_waits(watched)) throw Interrupted{};
    if (Clock::now() >= until) {
      r.late = true;
      return r;
    }
    pollfd p[3] = {{input.fd[1], POLLOUT, 0}, {output.fd[0], POLLIN, 0}, {errors.fd[0], POLLIN, 0}};
    if (poll(p, 3, kLookMs) <= 0) continue;
    if (p[0].revents) give(input, in);
    if (p[1].revents) take(output, r.out, words[0]);
    if (p[2].revents) take(errors, r.err, words[0]);
  }
  while (take(output, r.out, words[0])) {}
  while (take(errors, r.err, words[0])) {}
  (group.how.si_code == CLD_EXITED ? r.code : r.signal) = group.how.si_status;
  return r;
}

std::string child_fault(const ChildResult& r, std::chrono::milliseconds limit) {
  if (r.late) return fmt::format("took longer than {} s", std::chrono::duration<double>(limit).count());
  if (r.signal) return fmt::format("was ended by signal {} ({})", r.signal, strsignal(r.signal));
  return fmt::format("ended with exit code {}", r.code);
}

std::string child_said(const ChildResult& r) {
  std::vector<std::string_view> lines;
  for (std::string_view rest = r.err; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    lines.push_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  std::string said;
  for (size_t i = lines.size() - std::min(lines.size(), kLines); i < lines.size(); ++i)
    said += fmt::format("  | {}\n", human_words(lines[i].substr(0, 300)));
  return said;
}

}  // namespace nyb
