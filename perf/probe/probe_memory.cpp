// probe_memory.cpp - memory of each kind that weights can lie in.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include "common/app.h"
#include "engine/memory.h"
#include "kern/error.h"
#include "probe/last_cache.h"
#include "probe/probe.h"

namespace nyb {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kShareOfFree = 4;  // both kinds at once are then half of it

// No name of it is left: it goes with the process.
int temporary_file(size_t bytes) {
  std::string path = (std::filesystem::temp_directory_path() / "nybble-probe-XXXXXX").string();
  const int fd = mkstemp(path.data());
  if (fd < 0)
    throw Error(
        fmt::format("cannot make a file in '{}': {}", std::filesystem::path(path).parent_path().string(), std::strerror(errno)));
  unlink(path.c_str());
  if (const int e = posix_fallocate(fd, 0, static_cast<off_t>(bytes)); e != 0) {
    close(fd);
    throw Error(fmt::format("{} for the measurement do not fit into '{}': {}; TMPDIR names another folder", human_bytes(bytes),
                            std::filesystem::path(path).parent_path().string(), std::strerror(e)));
  }
  return fd;
}

}  // namespace

std::string_view probe_kind_name(ProbeMemory::Kind k) {
  switch (k) {
    case ProbeMemory::Kind::file: return "mapped file";
    case ProbeMemory::Kind::huge: return "2 MiB pages";
  }
  return "";
}

ProbeSize probe_size(const std::string& root) {
  ProbeSize s;
  s.wanted = std::max(4 * last_cache(root).all, size_t{256} << 20);
  s.free = memory_left(root).bytes;
  s.bytes = std::max(std::min(s.wanted, s.free / kShareOfFree), size_t{16} << 20);
  return s;
}

std::string ProbeSize::note() const {
  if (bytes >= wanted) return {};
  return fmt::format(
      "reading goes over {} MiB and not over {}, since only {} of memory are free: what the caches hold may make it too fast",
      bytes >> 20, wanted >> 20, human_bytes(free));
}

ProbeMemory::ProbeMemory(size_t bytes, Kind kind) : size_((bytes + kHugePage - 1) / kHugePage * kHugePage), kind_(kind) {
  const int fd = kind == Kind::file ? temporary_file(size_) : -1;
  void* p = mmap(nullptr, size_, PROT_READ | PROT_WRITE, kind == Kind::file ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, fd, 0);
  if (fd >= 0) close(fd);
  if (p == MAP_FAILED)
    throw Error(fmt::format("{} of memory for the measurement are not to be had: {}", human_bytes(size_), std::strerror(errno)));
  data_ = static_cast<std::byte*>(p);
  if (kind == Kind::huge) (void)madvise(p, size_, MADV_HUGEPAGE);
  // Zero pages may be shared by the system: every page gets something of its own.
  uint64_t v = 1;
  for (size_t at = 0; at < size_; at += 64) {
    v = v * 6364136223846793005u + 1442695040888963407u;
    std::memcpy(data_ + at, &v, sizeof v);
  }
  if (kind == Kind::file) (void)mprotect(p, size_, PROT_READ);
}

ProbeMemory::~ProbeMemory() { munmap(data_, size_); }

}  // namespace nyb
