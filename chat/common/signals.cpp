// signals.cpp - signals, standard files, terminals.
#include "common/signals.h"
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include "common/app.h"
#include "kern/signal_mask.h"
#include "model/temporaries.h"

namespace nyb {
namespace {

std::atomic<bool> flag{false};
std::atomic<bool> leaving{false};  // SIGTERM or SIGHUP came: no conversation is kept
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may only touch lock-free atomics");

std::atomic<bool> lent{false};  // the terminal, and so what follows is valid
termios lent_before;
const char* lent_undo;

extern "C" void on_signal(int sig) {
  // The work did not look at the flag yet: whoever asks again wants out, whatever it is doing.
  if (flag.exchange(true)) {
    terminal_back();
    temporaries_unlink();
    _exit(130);
  }
  if (sig != SIGINT) leaving = true;
}

// Ends the process as SIGQUIT does, core and all: the handler is gone and the signal not blocked while it runs.
extern "C" void on_quit(int sig) {
  terminal_back();
  temporaries_unlink();
  (void)std::raise(sig);
}

// A shell's background job starts with SIGINT ignored, and one under nohup with SIGHUP; that stays.
void handle(int sig, void (*handler)(int), int flags) {
  struct sigaction old {};
  if (sigaction(sig, nullptr, &old) == 0 && old.sa_handler == SIG_IGN) return;
  struct sigaction act {};
  act.sa_handler = handler;
  sigemptyset(&act.sa_mask);
  act.sa_flags = flags;
  sigaction(sig, &act, nullptr);
}

}  // namespace

bool interrupted() { return flag; }

void interrupt_clear() {
  if (!leaving) flag = false;
}

const std::atomic<bool>& interrupt_flag() { return flag; }

void signals_install() {
  // not SA_RESTART: opening a pipe that nobody writes must return
  for (const int sig : {SIGINT, SIGTERM, SIGHUP}) handle(sig, on_signal, 0);
  handle(SIGQUIT, on_quit, static_cast<int>(SA_RESETHAND) | SA_NODEFER);
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  sigemptyset(&ignore.sa_mask);
  for (const int sig : {SIGPIPE, SIGXFSZ}) sigaction(sig, &ignore, nullptr);
}

void terminal_lend(const termios& before, const char* undo) {
  lent_before = before;
  lent_undo = undo;
  lent = true;
}

void terminal_back() {
  if (!lent.exchange(false)) return;
  (void)fd_write(2, lent_undo);
  // From the background too, where the system would stop us for it.
  const SignalsBlocked blocked(signal_set({SIGTTOU}));
  while (tcsetattr(0, TCSANOW, &lent_before) != 0 && errno == EINTR) {}  // waits for nothing: the output may be stopped
}

void fds_open() {
  for (int fd = 0; fd < 3; ++fd) {
    if (fcntl(fd, F_GETFD) != -1 || errno != EBADF) continue;
    // The lowest free number is fd: the ones below it are open by now.
    if (open("/dev/null", fd == 0 ? O_RDONLY : O_WRONLY) < 0) return;
  }
}

int fd_write(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(fd, text.data(), text.size());
    if (n > 0) {
      text.remove_prefix(static_cast<size_t>(n));
    } else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      pollfd p{fd, POLLOUT, 0};  // somebody made the terminal non-blocking
      if (poll(&p, 1, -1) < 0 && errno != EINTR) return errno;
    } else if (n < 0 && errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

bool stderr_is_terminal() {
  static const bool is = isatty(2) == 1;
  return is;
}

bool stderr_has_colour() {
  static const bool has = [] {
    const char* term = std::getenv("TERM");
    const char* no = std::getenv("NO_COLOR");
    return stderr_is_terminal() && term && *term && std::strcmp(term, "dumb") != 0 && !(no && *no);
  }();
  return has;
}

}  // namespace nyb
