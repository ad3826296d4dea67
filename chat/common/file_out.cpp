// file_out.cpp - temporary name, then rename.
#include "common/file_out.h"
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include "common/app.h"
#include "common/signals.h"

namespace nyb {

void FileOut::fail(const char* what) const {
  throw Error(fmt::format("cannot {} '{}': {}", what, human_words(path_), std::strerror(errno)));
}

FileOut::FileOut(std::string path) : path_(std::move(path)) {
  struct stat st {};
  // A rename over a device or a folder would put a file in its place.
  if (stat(path_.c_str(), &st) == 0 && !S_ISREG(st.st_mode))
    throw Error(fmt::format("'{}' is no regular file; give the name of a file to write", human_words(path_)));
  for (int i = 0; fd_ < 0; ++i) {
    part_ = fmt::format("{}.part-{}-{}", path_, getpid(), i);
    fd_ = open(part_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd_ < 0 && (errno != EEXIST || i > 1000)) fail("create");
  }
}

FileOut::~FileOut() {
  if (fd_ < 0) return;
  close(fd_);
  unlink(part_.c_str());
}

void FileOut::write(std::string_view bytes) {
  if (const int error = fd_write(fd_, bytes)) {
    errno = error;
    fail("write");
  }
}

void FileOut::write_at(uint64_t offset, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail("write");
    bytes.remove_prefix(static_cast<size_t>(n));
    offset += static_cast<uint64_t>(n);
  }
}

void FileOut::finish() {
  const int fd = fd_;
  fd_ = -1;
  if (close(fd) != 0 || std::rename(part_.c_str(), path_.c_str()) != 0) {
    const int error = errno;
    unlink(part_.c_str());
    errno = error;
    fail("write");
  }
}

}  // namespace nyb
