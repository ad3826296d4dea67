#include "npm.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "data.h"

namespace nyb::test {
namespace fs = std::filesystem;

fs::path npm_dir() {
  const char* chosen = std::getenv("NYBBLE_NPM");
  return chosen && *chosen ? fs::path(chosen) : binary_dir() / "npm";
}

std::string npm_remedy() {
  return "install Node 18 or newer and run `scripts/npm.sh " + npm_dir().string() +
         "` (./check does), or set NYBBLE_NPM to a folder where that was done";
}

fs::path npm_file(const std::string& name) {
  fs::path p = npm_dir() / "node_modules" / name;
  if (!fs::exists(p)) ADD_FAILURE() << p << " is not there: " << npm_remedy();
  return p;
}

}  // namespace nyb::test
