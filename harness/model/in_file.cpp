// in_file.cpp - opening, and what to say when it fails.
#include "model/in_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "kern/error.h"

namespace nyb {
namespace {

const char* kind(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

uint64_t checked_size(int fd, const std::string& path) {
  struct stat st {};
  if (fstat(fd, &st) != 0) throw Error(path + ": cannot look at it: " + std::strerror(errno));
  if (!S_ISREG(st.st_mode)) throw Error(path + ": this is " + kind(st.st_mode) + ", not a file");
  if (st.st_size == 0) throw Error(path + ": the file is empty");
  return static_cast<uint64_t>(st.st_size);
}

}  // namespace

// O_NONBLOCK: opening a FIFO must not wait for a writer
InFile::InFile(const std::string& path) : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  if (fd_ < 0) throw Error(path + ": cannot open it: " + std::strerror(errno));
  try {
    size_ = checked_size(fd_, path);
  } catch (...) {
    close(fd_);
    throw;
  }
}

InFile::~InFile() { close(fd_); }

}  // namespace nyb
