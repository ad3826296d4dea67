// mapped_file.h - a file mapped to be read, whose faults become sentences.
#pragma once
#include <cstdint>
#include <span>
#include <string>

namespace nyb {

// Maps a whole regular file (MAP_SHARED, PROT_READ) and registers it with the map guard. Throws Error, one sentence that
// begins with the path: absent, no permission, a folder, a FIFO or device (never opened for long), empty.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  MappedFile& operator=(MappedFile&&) = delete;

  const uint8_t* data() const { return data_; }
  uint64_t size() const { return size_; }
  std::span<const uint8_t> bytes() const { return {data_, size_}; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  const uint8_t* data_ = nullptr;
  uint64_t size_ = 0;
  void* guard_ = nullptr;
};

}  // namespace nyb
