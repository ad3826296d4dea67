// progress.cpp - a bar in one terminal line, drawn over itself and taken away at the end.
#include <fmt/format.h>
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include "common/app.h"

namespace nyb {
namespace {
using Clock = std::chrono::steady_clock;
constexpr int kWidth = 30;
constexpr std::chrono::milliseconds kPatience{200}, kBetween{50};

bool can_redraw() {
  const char* term = std::getenv("TERM");
  return stderr_is_terminal() && term && *term && std::strcmp(term, "dumb") != 0;
}
}  // namespace

Progress::Progress(std::string what, uint64_t total, bool enabled)
    : what_(std::move(what)), total_(std::max<uint64_t>(total, 1)), on_(enabled && can_redraw()), drawn_(Clock::now()) {}

Progress::~Progress() {
  if (last_ >= 0) err_write("\r\033[K");
}

void Progress::at(uint64_t done) {
  if (!on_) return;
  const double part = std::min(1.0, static_cast<double>(done) / static_cast<double>(total_));
  const int percent = static_cast<int>(part * 100);
  const Clock::time_point now = Clock::now();
  // What is over in a moment shows no bar: it would only flicker.
  if (percent == last_ || now - drawn_ < (last_ < 0 ? kPatience : kBetween)) return;
  last_ = percent;
  drawn_ = now;
  const int filled = static_cast<int>(part * kWidth);
  err_write(fmt::format("\r{} [{:#<{}}{:.<{}}] {:3}%\033[K", what_, "", filled, "", kWidth - filled, percent));
}

std::function<void(uint64_t, uint64_t)> progress_reporter(std::string what, bool enabled) {
  return [what = std::move(what), enabled, bar = std::make_shared<std::optional<Progress>>()](uint64_t done, uint64_t total) {
    if (interrupted()) throw Interrupted{};
    if (!*bar) bar->emplace(what, total, enabled);
    (*bar)->at(done);
  };
}

}  // namespace nyb
