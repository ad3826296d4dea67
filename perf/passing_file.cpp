// passing_file.cpp - names with the process in them.
#include "passing_file.h"
#include <fmt/format.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <optional>
#include <regex>
#include "common/options.h"
#include "model/temporaries.h"

namespace nyb {
namespace {
namespace fs = std::filesystem;

// The process that a file belongs to: NAME-TYPE.PID.mnm, or .nybble-PID-N.tmp of one that was being written.
std::optional<pid_t> owner(const std::string& name) {
  static const std::regex ours("[^/]*-[^-.]+\\.([0-9]+)\\.mnm|\\.nybble-([0-9]+)-[0-9]+\\.tmp");
  std::smatch m;
  if (!std::regex_match(name, m, ours)) return std::nullopt;
  const auto pid = parse_whole(m[m[1].matched ? 1 : 2].str(), INT32_MAX);
  return pid && *pid > 0 ? std::optional(static_cast<pid_t>(*pid)) : std::nullopt;
}

}  // namespace

PassingFile::PassingFile(const std::string& folder, const std::string& stem)
    : path_(fmt::format("{}/{}.{}.mnm", folder, stem, getpid())), remembered_(temporary_remember(path_)) {}

PassingFile::~PassingFile() {
  unlink(path_.c_str());
  temporary_forget(remembered_);
}

void passing_files_tidy(const std::string& folder) {
  std::error_code ec;
  for (const fs::directory_entry& e : fs::directory_iterator(folder, ec))
    if (const auto pid = owner(e.path().filename().string()); pid && kill(*pid, 0) != 0 && errno == ESRCH) {
      std::error_code gone;  // another process may do the same
      fs::remove(e.path(), gone);
    }
}

}  // namespace nyb
