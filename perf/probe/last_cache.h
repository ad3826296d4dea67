// last_cache.h - how much the caches hold, so that memory is measured and not they.
#pragma once
#include <cstddef>
#include <string>

namespace nyb {

// Of the last caches behind the CPUs that this process may use, each counted once however many CPUs share it. 0: the system does
// not tell.
struct LastCache {
  size_t one = 0;  // the smallest of them: one thread may find itself there
  size_t all = 0;  // together
};

// `root` is put before /sys and /proc, so that a test can make a machine up (engine/threads.h).
LastCache last_cache(const std::string& root = "");

}  // namespace nyb
