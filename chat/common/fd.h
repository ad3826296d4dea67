// fd.h - a file descriptor that closes itself.
#pragma once
#include <unistd.h>

namespace nyb {

struct Fd {
  explicit Fd(int n) : fd(n) {}  // negative: none
  ~Fd() {
    if (fd >= 0) close(fd);
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  const int fd;
};

}  // namespace nyb
