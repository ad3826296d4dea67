// format.cpp - numbers and text as people read them; no locale.
#include <fmt/format.h>
#include <unistd.h>
#include <climits>
#include <filesystem>
#include "common/app.h"
#include "kern/printable.h"

namespace nyb {
namespace {

// Three figures or so, and the unit that keeps them below 1000.
std::string scaled(uint64_t n, const char* const* units, size_t count, int decimals, const char* space) {
  double v = static_cast<double>(n);
  size_t u = 0;
  // 999.96 would print as 1000.0: what rounds up to 1000 is one of the next unit
  const double limit = decimals == 1 ? 999.95 : 999.5;
  while (u + 1 < count && v >= (u == 0 ? 1000.0 : limit)) {
    v /= 1000;
    ++u;
  }
  if (u == 0) return fmt::format("{}{}{}", n, space, units[0]);
  if (decimals < 0) decimals = v < 9.995 ? 2 : v < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f}{}{}", v, decimals, space, units[u]);
}

}  // namespace

std::string human_bytes(uint64_t n) {
  static const char* const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  return scaled(n, units, std::size(units), 1, " ");
}

std::string human_count(uint64_t n) {
  static const char* const units[] = {"", "K", "M", "B", "T"};
  return scaled(n, units, std::size(units), -1, "");
}

std::string human_words(std::string_view text) { return printable(text); }

std::string self_folder() {
  std::error_code ec;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", ec);
  return ec ? std::string(".") : self.parent_path().string();
}

}  // namespace nyb
