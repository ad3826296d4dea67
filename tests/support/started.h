// started.h - the number of a process that was started.
#pragma once
#include <sys/types.h>
#include <cerrno>
#include <system_error>

namespace nyb::test {

// What fork() or forkpty() gave, if it started one; else throws, so that the test fails and nobody sends a signal to -1, which is
// every process of the system.
inline pid_t started(pid_t pid, const char* by) {
  if (pid < 0) throw std::system_error(errno, std::generic_category(), by);
  return pid;
}

}  // namespace nyb::test
