// folders.cpp - names from the environment.
#include "common/folders.h"
#include <fmt/format.h>
#include <cstdlib>
#include <filesystem>
#include "common/app.h"

namespace nyb {
namespace fs = std::filesystem;

std::optional<std::string> xdg_folder(const char* variable, const char* below_home) {
  const char* given = std::getenv(variable);
  if (given && *given == '/') return fmt::format("{}/nybble", given);
  const char* home = std::getenv("HOME");
  if (home && *home == '/') return fmt::format("{}/{}/nybble", home, below_home);
  return std::nullopt;
}

std::string cache_folder(const std::string& below) {
  const std::optional<std::string> place = xdg_folder("XDG_CACHE_HOME", ".cache");
  if (!place) throw Error("there is no folder to keep files in: set HOME or XDG_CACHE_HOME");
  fs::path folder = *place;
  if (!below.empty()) folder /= below;
  std::error_code ec;
  fs::create_directories(folder, ec);
  if (ec) throw Error(fmt::format("cannot make the folder '{}': {}; XDG_CACHE_HOME names another", folder.string(), ec.message()));
  return folder.string();
}

}  // namespace nyb
