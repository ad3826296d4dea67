// timed.h - how long a call takes.
#pragma once
#include <chrono>

namespace nyb {

template <class F>
double seconds_of(F&& f) {
  const auto start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace nyb
