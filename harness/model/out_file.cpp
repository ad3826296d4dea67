// out_file.cpp - a temporary file beside the real one, and the renaming.
#include "model/out_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "kern/error.h"
#include "kern/signal_mask.h"
#include "model/look.h"
#include "model/temporaries.h"
#include "model/writer.h"

namespace nyb {
namespace fs = std::filesystem;
namespace {

std::string reason(int e) {
  if (e == ENOSPC || e == EDQUOT) return "there is no space left on the disk";
  if (e == EFBIG) return "the file would be larger than the limit on files";
  return std::strerror(e);
}

// The file that a chain of symbolic links at `path` stands for.
std::string resolved(const std::string& path) {
  std::error_code ec;
  if (!fs::is_symlink(path, ec)) return path;
  const fs::path real = fs::canonical(path, ec);
  return ec ? path : real.string();
}

std::string folder_of(const std::string& path) {
  const std::string d = fs::path(path).parent_path().string();
  return d.empty() ? "." : d;
}

}  // namespace

void output_check(const std::string& path) {
  if (path.empty()) throw Error("the name of the output file is empty");
  const fs::file_type kind = file_look(path);
  if (kind == fs::file_type::directory) throw Error(path + ": this is a folder; give the name of a file to write");
  if (kind != fs::file_type::not_found && kind != fs::file_type::regular)
    throw Error(path + ": this is not a regular file, and only such a file can be replaced");
  if (path.back() == '/') throw Error(path + ": this names a folder; give the name of a file to write");
  const std::string folder = folder_of(path);
  const fs::file_type place = file_look(folder);
  if (place == fs::file_type::not_found) throw Error(path + ": the folder " + folder + " to write it in is not there");
  if (place != fs::file_type::directory) throw Error(path + ": " + folder + ", where it is to be written, is not a folder");
}

OutFile::OutFile(const std::string& path, unsigned mode) {
  output_check(path);
  path_ = resolved(path);
  static std::atomic<unsigned> count{0};
  const SignalsBlocked held(
      signal_set({SIGINT, SIGTERM, SIGHUP, SIGQUIT}));  // a handler that ends the process finds the file remembered, or none
  for (int tries = 0; fd_ < 0 && tries < 100; tries++) {
    temporary_ = fmt::format("{}/.nybble-{}-{}.tmp", folder_of(path_), getpid(), count++);
    fd_ = open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd_ < 0 && errno != EEXIST) break;
  }
  if (fd_ < 0) throw Error(path_ + ": cannot write in its folder: " + reason(errno));
  remembered_ = temporary_remember(temporary_);
  struct stat there {};
  if (stat(path_.c_str(), &there) == 0) (void)fchmod(fd_, there.st_mode & 0777);
}

OutFile::~OutFile() {
  if (fd_ >= 0) close(fd_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
  temporary_forget(remembered_);
}

void OutFile::reserve(uint64_t bytes) {
  if (fallocate(fd_, 0, 0, static_cast<off_t>(bytes)) == 0) return;
  // a file system that cannot reserve says so in its own ways; only "no room" is an answer
  if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG)
    throw Error(fmt::format("{}: cannot write its {} bytes: {}", path_, bytes, reason(errno)));
}

void OutFile::write(uint64_t offset, const void* data, uint64_t n) {
  const auto* p = static_cast<const uint8_t*>(data);
  while (n > 0) {
    const ssize_t k = pwrite(fd_, p, std::min<uint64_t>(n, 1u << 30), static_cast<off_t>(offset));
    if (k < 0 && errno == EINTR) continue;
    if (k <= 0) throw Error(fmt::format("{}: cannot write at byte {}: {}", path_, offset, reason(k < 0 ? errno : ENOSPC)));
    p += k;
    offset += static_cast<uint64_t>(k);
    n -= static_cast<uint64_t>(k);
  }
}

void OutFile::sync() {
  if (fsync(fd_) != 0) throw Error(path_ + ": cannot write: " + reason(errno));
}

void OutFile::commit() {
  sync();
  const int fd = fd_;
  fd_ = -1;
  if (close(fd) != 0 && errno != EINTR) throw Error(path_ + ": cannot write: " + reason(errno));
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0)
    throw Error(path_ + ": cannot give the finished file its name: " + reason(errno));
  temporary_.clear();
  temporary_forget(std::exchange(remembered_, nullptr));
  // the folder's entry as well, so that a power cut keeps the whole file or the old one; it may not be readable: no matter
  if (const int d = open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); d >= 0) {
    fsync(d);
    close(d);
  }
}

void write_whole(const std::string& path, std::string_view text, unsigned mode) {
  OutFile out(path, mode);
  out.write(0, text.data(), text.size());
  out.commit();
}

}  // namespace nyb
