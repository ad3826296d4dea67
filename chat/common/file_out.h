// file_out.h - a file that appears under its name only when it is whole.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace nyb {

// Writes under a temporary name in the same folder. finish() renames it; destroyed before that, it is removed and what was
// there stays. Throws Error naming the file: no folder, no permission, a full disk, or a name that is no regular file.
class FileOut {
 public:
  explicit FileOut(std::string path);
  ~FileOut();
  void write(std::string_view bytes);
  void write_at(uint64_t offset, std::string_view bytes);  // over what is written already
  void finish();
  FileOut(const FileOut&) = delete;
  FileOut& operator=(const FileOut&) = delete;

 private:
  [[noreturn]] void fail(const char* what) const;
  std::string path_, part_;
  int fd_ = -1;
};

}  // namespace nyb
