// seconds.h - the clock of the measurements that choose what runs. A test brings its own.
#pragma once
#include <chrono>
#include <functional>

namespace nyb {

using Seconds = std::function<double()>;  // since some moment; never less than before

inline double seconds_now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace nyb
