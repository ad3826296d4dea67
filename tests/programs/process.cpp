#include "process.h"
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include "support/build.h"
#include "support/data.h"
#include "support/started.h"

namespace nyb::test {
namespace {

using Clock = std::chrono::steady_clock;

std::vector<std::string> environment(const std::vector<std::string>& add, bool bare) {
  std::vector<std::string> all;
  if (!bare)
    for (char** e = environ; *e; ++e)
      if (!std::string_view(*e).starts_with("NYBBLE_")) all.emplace_back(*e);
  for (const std::string& a : add) {
    const std::string name = a.substr(0, a.find('=')) + "=";
    std::erase_if(all, [&](const std::string& e) { return e.starts_with(name); });
    if (a.size() >= name.size()) all.push_back(a);
  }
  return all;
}

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> p;
  p.reserve(words.size() + 1);
  for (const std::string& w : words) p.push_back(const_cast<char*>(w.c_str()));
  p.push_back(nullptr);
  return p;
}

void fresh_signals() {
  for (const int sig : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGPIPE}) ::signal(sig, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

int exit_of(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : -1; }

// Waits until the child ends; false when it has not by then.
bool reap(pid_t pid, int& status, Clock::time_point until) {
  while (waitpid(pid, &status, WNOHANG) == 0) {
    if (Clock::now() > until) return false;
    usleep(2000);
  }
  return true;
}

void take(int& fd, std::string& into) {
  char part[65536];
  const ssize_t n = read(fd, part, sizeof part);
  if (n > 0) {
    into.append(part, static_cast<size_t>(n));
  } else {
    close(fd);
    fd = -1;
  }
}

}  // namespace

Ran run(const Args& argv, const RunOptions& o) {
  int in[2], out[2], err[2];
  const bool piped = o.in_pipe || o.hold_in || !o.in.empty();
  if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC)) {
    ADD_FAILURE() << "no pipe";
    return {};
  }
  const std::vector<std::string> env = environment(o.env, o.bare_env);
  const std::vector<char*> args = pointers(argv), envp = pointers(env);
  ::signal(SIGPIPE, SIG_IGN);  // a program may end before it has read its input
  const pid_t pid = started(fork(), "fork");
  if (pid == 0) {
    fresh_signals();
    dup2(piped ? in[0] : open("/dev/null", O_RDONLY), 0);
    dup2(out[1], 1);
    dup2(err[1], 2);
    if (o.close_fd >= 0) close(o.close_fd);
    if (!o.cwd.empty() && chdir(o.cwd.c_str()) != 0) _exit(126);
    execve(args[0], args.data(), envp.data());
    _exit(127);
  }
  close(in[0]);
  close(out[1]);
  close(err[1]);
  fcntl(in[1], F_SETFL, O_NONBLOCK);
  Ran r;
  int in_fd = in[1], out_fd = out[0], err_fd = err[0];
  size_t written = 0;
  bool sent = o.interrupt_after.count() < 0;
  Clock::time_point seen_at{};
  const Clock::time_point until = Clock::now() + o.timeout * kPatience;
  while ((out_fd >= 0 || err_fd >= 0) && Clock::now() < until) {
    if (in_fd >= 0 && written == o.in.size() && !o.hold_in) {
      close(in_fd);
      in_fd = -1;
    }
    if (!sent && r.out.size() >= o.interrupt_out && (r.err + r.out).find(o.interrupt_on) != std::string::npos) {
      if (seen_at == Clock::time_point{}) seen_at = Clock::now();
      if (Clock::now() - seen_at >= o.interrupt_after) {
        kill(pid, o.interrupt_signal);
        sent = true;
      }
    }
    pollfd p[3] = {{written < o.in.size() ? in_fd : -1, POLLOUT, 0}, {out_fd, POLLIN, 0}, {err_fd, POLLIN, 0}};
    poll(p, 3, 10);
    if (p[0].revents) {
      const ssize_t n = write(in_fd, o.in.data() + written, o.in.size() - written);
      if (n > 0) written += static_cast<size_t>(n);
      if (n < 0 && errno != EAGAIN) written = o.in.size();
    }
    if (p[1].revents) take(out_fd, r.out);
    if (p[2].revents) take(err_fd, r.err);
    if (o.close_out_after >= 0 && out_fd >= 0 && r.out.size() >= static_cast<size_t>(o.close_out_after)) {
      close(out_fd);
      out_fd = -1;
    }
  }
  for (const int fd : {in_fd, out_fd, err_fd})
    if (fd >= 0) close(fd);
  int status = 0;
  if (!reap(pid, status, until + std::chrono::seconds(1) * kPatience)) {
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    r.timed_out = true;
    ADD_FAILURE() << "it did not end in time; so far:\n" << r.out << "\n" << r.err;
  }
  r.code = exit_of(status);
  r.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  return r;
}

Pty::Pty(const Args& argv, const std::vector<std::string>& env_add, bool stdout_piped) {
  int out[2] = {-1, -1};
  if (stdout_piped && pipe2(out, O_CLOEXEC)) ADD_FAILURE() << "no pipe";
  const std::string home = (tmp_dir() / "home").string();
  std::filesystem::create_directories(home);
  std::vector<std::string> given{"HOME=" + home, "XDG_STATE_HOME=" + home + "/state"};
  given.insert(given.end(), env_add.begin(), env_add.end());
  const std::vector<std::string> env = environment(given, false);
  const std::vector<char*> args = pointers(argv), envp = pointers(env);
  winsize size{24, 80, 0, 0};
  termios t{};
  cfmakeraw(&t);
  t.c_iflag = ICRNL | BRKINT;
  t.c_oflag = 0;
  t.c_lflag = ICANON | ISIG;  // lines and Ctrl+C, but no echo
  const std::pair<int, cc_t> keys[] = {{VINTR, 3},   {VEOF, 4},   {VERASE, 127}, {VKILL, 21},    {VSUSP, 26}, {VQUIT, 28},
                                       {VSTART, 17}, {VSTOP, 19}, {VWERASE, 23}, {VREPRINT, 18}, {VLNEXT, 22}};
  for (const auto& [which, key] : keys) t.c_cc[which] = key;
  cfsetspeed(&t, B38400);
  int go[2] = {-1, -1};  // the program begins when the state of the terminal is noted
  if (pipe2(go, O_CLOEXEC)) ADD_FAILURE() << "no pipe";
  pid_ = started(forkpty(&master_, nullptr, &t, &size), "forkpty");
  if (pid_ == 0) {
    close(go[1]);
    char none;
    while (read(go[0], &none, 1) < 0 && errno == EINTR) {}
    fresh_signals();
    if (stdout_piped) dup2(out[1], 1);
    execve(args[0], args.data(), envp.data());
    _exit(127);
  }
  control_ = fcntl(master_, F_DUPFD_CLOEXEC, 0);
  began = modes();
  close(go[0]);
  close(go[1]);
  if (stdout_piped) close(out[1]);
  out_ = out[0];
}

Pty::~Pty() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    int status = 0;
    waitpid(pid_, &status, 0);
  }
  for (const int fd : {master_, control_, out_})
    if (fd >= 0) close(fd);
}

void Pty::type(const std::string& text) {
  if (write(master_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) ADD_FAILURE() << "cannot type";
}

void Pty::resize(unsigned short rows, unsigned short columns) {
  const winsize size{rows, columns, 0, 0};
  if (ioctl(control_, TIOCSWINSZ, &size) != 0) ADD_FAILURE() << "cannot resize";
}

void Pty::hang_up() {
  for (int* fd : {&master_, &control_}) {
    close(*fd);
    *fd = -1;
  }
}

std::string Pty::modes() const {
  termios t{};
  if (tcgetattr(control_, &t) != 0) ADD_FAILURE() << "no terminal";
  std::string all;
  for (const tcflag_t flags : {t.c_iflag, t.c_oflag, t.c_cflag, t.c_lflag}) all += std::to_string(flags) + ' ';
  for (const cc_t c : t.c_cc) all += std::to_string(c) + ' ';
  return all;
}

void Pty::signal(int number) { kill(pid_, number); }

bool Pty::pump(int ms) {
  if (master_ < 0 && out_ < 0) return false;
  pollfd p[2] = {{master_, POLLIN, 0}, {out_, POLLIN, 0}};
  poll(p, 2, ms);
  if (p[0].revents) take(master_, seen);
  if (p[1].revents) take(out_, out);
  return true;
}

bool Pty::wait(const std::string& text, std::chrono::seconds limit) {
  const Clock::time_point until = Clock::now() + limit * kPatience;
  for (;;) {
    if (const size_t at = seen.find(text, from_); at != std::string::npos) {
      from_ = at + text.size();
      return true;
    }
    if (Clock::now() > until || !pump(50)) return false;
  }
}

bool Pty::more(size_t bytes) {
  const Clock::time_point until = Clock::now() + std::chrono::seconds(60) * kPatience;
  for (const size_t before = seen.size(); seen.size() < before + bytes;)
    if (Clock::now() > until || !pump(50)) return false;
  return true;
}

bool Pty::look() { return pump(20); }

bool Pty::ended(std::chrono::seconds limit) {
  const Clock::time_point until = Clock::now() + limit * kPatience;
  while (pid_ > 0 && waitpid(pid_, &status_, WNOHANG) == 0) {
    if (Clock::now() > until) return false;
    if (!pump(20)) usleep(2000);
  }
  pid_ = -1;
  return true;
}

int Pty::finish(std::chrono::seconds limit) {
  const Clock::time_point until = Clock::now() + limit;
  if (!ended(limit)) return -2;
  while (master_ >= 0 && pump(50) && Clock::now() < until) {}
  while (out_ >= 0 && pump(50) && Clock::now() < until) {}
  return exit_of(status_);
}

}  // namespace nyb::test
