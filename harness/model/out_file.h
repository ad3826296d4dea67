// out_file.h - a file that appears under its name only when it is whole.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace nyb {

// Written under a temporary name in the same folder; commit() syncs and renames it. Destroyed before that, the temporary
// file is removed. Errors are Error: one sentence that names `path`. A symbolic link at `path` stays and its target changes.
class OutFile {
 public:
  // `mode` is that of a new file; one that is replaced hands its own on.
  explicit OutFile(const std::string& path, unsigned mode = 0666);
  ~OutFile();
  OutFile(const OutFile&) = delete;
  OutFile& operator=(const OutFile&) = delete;

  void reserve(uint64_t bytes);  // fails at once on a disk that is too small; else a hint
  void write(uint64_t offset, const void* data, uint64_t n);
  void sync();  // all of it on the disk, whose late errors are seen here
  void commit();
  const std::string& temporary() const { return temporary_; }

 private:
  std::string path_, temporary_;
  int fd_ = -1;
  void* remembered_ = nullptr;  // removed as well where a signal ends the process (temporaries.h)
};

// A file that holds this text, whole or not at all. Throws Error as OutFile does.
void write_whole(const std::string& path, std::string_view text, unsigned mode = 0666);

}  // namespace nyb
