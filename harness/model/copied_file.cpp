// copied_file.cpp - the memory, and reading into it.
#include "model/copied_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "kern/error.h"
#include "model/in_file.h"

namespace nyb {
namespace {

constexpr uint64_t kHuge = uint64_t{2} << 20;
constexpr uint64_t kPart = uint64_t{8} << 20;  // read at once: long enough for a disk, short enough for Ctrl+C

constexpr uint64_t up_to_huge(uint64_t n) { return (n + kHuge - 1) / kHuge * kHuge; }

}  // namespace

CopiedFile::Memory::Memory(uint64_t bytes, const std::string& path) : size(up_to_huge(bytes) + kHuge) {
  begin = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (begin == MAP_FAILED)
    throw Error(path + ": its " + std::to_string(bytes) + " bytes do not fit into memory (" + std::strerror(errno) +
                "); --load map needs no copy");
  const auto address = reinterpret_cast<uint64_t>(begin);
  data = static_cast<uint8_t*>(begin) + (up_to_huge(address) - address);
  (void)madvise(data, up_to_huge(bytes), MADV_HUGEPAGE);  // refused where the system knows none: then normal pages
}

CopiedFile::Memory::~Memory() { munmap(begin, size); }

CopiedFile::CopiedFile(const std::string& path, const std::function<void(uint64_t, uint64_t)>& progress)
    : CopiedFile(InFile(path), path, progress) {}

CopiedFile::CopiedFile(const InFile& in, const std::string& path, const std::function<void(uint64_t, uint64_t)>& progress)
    : size_(in.size()), memory_(size_, path) {
  (void)posix_fadvise(in.fd(), 0, 0, POSIX_FADV_SEQUENTIAL);
  for (uint64_t done = 0; done < size_;) {
    const ssize_t n = pread(in.fd(), memory_.data + done, std::min(kPart, size_ - done), static_cast<off_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw Error(path + ": cannot read it: " + std::strerror(errno));
    if (n == 0) throw Error(path + ": the file became shorter while it was read; start again with the whole file");
    (void)posix_fadvise(in.fd(), static_cast<off_t>(done), n, POSIX_FADV_DONTNEED);
    done += static_cast<uint64_t>(n);
    if (progress) progress(done, size_);
  }
  // a stray write is met at once, as in a mapped file; to the end of the last huge page, which would be split else
  (void)mprotect(memory_.data, up_to_huge(size_), PROT_READ);
}

}  // namespace nyb
