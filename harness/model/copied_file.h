// copied_file.h - a file read into memory of the program's own, which asks for huge pages.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace nyb {
class InFile;

// Reads a whole regular file in large parts into anonymous memory that begins on 2 MiB and asks for pages of that size (advice:
// where the system has none to give, they are normal ones). The file's pages leave the page cache behind it, so that the model is
// in memory once. The memory is read only afterwards, and a change of the file changes nothing. Throws Error, one sentence that
// begins with the path: what InFile says, no memory, a file that cannot be read or became shorter; and what `progress` (may be
// empty) throws, which is called after each part.
class CopiedFile {
 public:
  CopiedFile(const std::string& path, const std::function<void(uint64_t done, uint64_t total)>& progress);
  CopiedFile(const CopiedFile&) = delete;
  CopiedFile& operator=(const CopiedFile&) = delete;
  std::span<const uint8_t> bytes() const { return {memory_.data, size_}; }

 private:
  struct Memory {
    Memory(uint64_t size, const std::string& path);
    ~Memory();
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    void* begin;    // as mapped
    uint64_t size;  // of it
    uint8_t* data;  // the first 2 MiB boundary in it
  };
  CopiedFile(const InFile& in, const std::string& path, const std::function<void(uint64_t, uint64_t)>& progress);

  uint64_t size_ = 0;
  Memory memory_;
};

}  // namespace nyb
