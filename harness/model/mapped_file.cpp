// mapped_file.cpp - opening, mapping, and what to say when either fails.
#include "model/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "kern/error.h"
#include "model/map_guard.h"

namespace nyb {
namespace {

[[noreturn]] void fail(const std::string& path, const char* what) { throw Error(path + ": " + what + ": " + std::strerror(errno)); }

const char* kind(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

}  // namespace

MappedFile::MappedFile(const std::string& path) : path_(path) {
  // O_NONBLOCK: opening a FIFO must not wait for a writer
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) fail(path, "cannot open it");
  struct Closer {
    int fd;
    ~Closer() { close(fd); }
  } const closer{fd};
  struct stat st {};
  if (fstat(fd, &st) != 0) fail(path, "cannot look at it");
  if (!S_ISREG(st.st_mode)) throw Error(path + ": this is " + kind(st.st_mode) + ", not a file");
  if (st.st_size == 0) throw Error(path + ": the file is empty");
  size_ = static_cast<uint64_t>(st.st_size);
  void* p = mmap(nullptr, size_, PROT_READ, MAP_SHARED, fd, 0);
  if (p == MAP_FAILED) fail(path, "cannot map it");
  data_ = static_cast<const uint8_t*>(p);
  guard_ = map_guard_add(p, size_, path);
}

MappedFile::MappedFile(MappedFile&& o) noexcept
    : path_(std::move(o.path_)),
      data_(std::exchange(o.data_, nullptr)),
      size_(std::exchange(o.size_, 0)),
      guard_(std::exchange(o.guard_, nullptr)) {}

MappedFile::~MappedFile() {
  if (!data_) return;
  map_guard_remove(guard_);
  munmap(const_cast<uint8_t*>(data_), size_);
}

}  // namespace nyb
