// progress.cpp - a bar in one terminal line, drawn over itself and taken away at the end.
#include <fmt/format.h>
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include "common/app.h"

namespace nyb {
namespace {
constexpr int kWidth = 30;

bool can_redraw() {
  const char* term = std::getenv("TERM");
  return stderr_is_terminal() && term && *term && std::strcmp(term, "dumb") != 0;
}
}  // namespace

Progress::Progress(std::string what, uint64_t total, bool enabled)
    : what_(std::move(what)), total_(std::max<uint64_t>(total, 1)), on_(enabled && can_redraw()) {
  at(0);
}

Progress::~Progress() {
  if (on_) err_write("\r\033[K");
}

void Progress::at(uint64_t done) {
  if (!on_) return;
  const double part = std::min(1.0, static_cast<double>(done) / static_cast<double>(total_));
  const int percent = static_cast<int>(part * 100);
  const auto now = std::chrono::steady_clock::now();
  if (percent == last_ || (last_ >= 0 && percent < 100 && now - drawn_ < std::chrono::milliseconds(50))) return;
  last_ = percent;
  drawn_ = now;
  const int filled = static_cast<int>(part * kWidth);
  err_write(fmt::format("\r{} [{:#<{}}{:.<{}}] {:3}%\033[K", what_, "", filled, "", kWidth - filled, percent));
}

}  // namespace nyb
