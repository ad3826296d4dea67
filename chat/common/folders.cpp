// folders.cpp - the XDG base directories (specification 0.8): a relative path in a variable counts as none.
#include "common/folders.h"
#include <fmt/format.h>
#include <cstdlib>
#include <filesystem>
#include "common/app.h"

namespace nyb {
namespace fs = std::filesystem;

std::string cache_folder(const std::string& below) {
  const auto absolute = [](const char* name) {
    const char* v = std::getenv(name);
    return v && *v == '/' ? fs::path(v) : fs::path();
  };
  fs::path folder = absolute("XDG_CACHE_HOME");
  if (const fs::path home = absolute("HOME"); folder.empty() && !home.empty()) folder = home / ".cache";
  if (folder.empty()) throw Error("there is no folder to keep files in: set HOME or XDG_CACHE_HOME");
  folder /= "nybble";
  if (!below.empty()) folder /= below;
  std::error_code ec;
  fs::create_directories(folder, ec);
  if (ec) throw Error(fmt::format("cannot make the folder '{}': {}; XDG_CACHE_HOME names another", folder.string(), ec.message()));
  return folder.string();
}

}  // namespace nyb
