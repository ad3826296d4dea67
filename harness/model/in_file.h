// in_file.h - a regular file opened to be read.
#pragma once
#include <cstdint>
#include <string>

namespace nyb {

// Throws Error, one sentence that begins with the path: absent, no permission, a folder, a FIFO or device (never waited for),
// empty.
class InFile {
 public:
  explicit InFile(const std::string& path);
  ~InFile();
  InFile(const InFile&) = delete;
  InFile& operator=(const InFile&) = delete;
  int fd() const { return fd_; }
  uint64_t size() const { return size_; }

 private:
  int fd_;
  uint64_t size_ = 0;
};

}  // namespace nyb
