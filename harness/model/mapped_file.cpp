// mapped_file.cpp - mapping, and what to say when it fails.
#include "model/mapped_file.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "kern/error.h"
#include "model/in_file.h"
#include "model/map_guard.h"

namespace nyb {

MappedFile::MappedFile(const std::string& path) : path_(path) {
  const InFile in(path);
  size_ = in.size();
  void* p = mmap(nullptr, size_, PROT_READ, MAP_SHARED, in.fd(), 0);
  if (p == MAP_FAILED && errno == ENOMEM)  // it takes addresses, not memory
    throw Error(path + ": cannot map it: this process has no addresses left for its " + std::to_string(size_) +
                " bytes; a limit on them, in KiB, is told and set by ulimit -v");
  if (p == MAP_FAILED) throw Error(path + ": cannot map it: " + std::strerror(errno));
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
