// machine.h - where and from what figures come; without it they are worth nothing.
#pragma once
#include <cstddef>
#include <string>

namespace nyb {

struct Machine {
  std::string cpu, date, version, command;
  unsigned cpus = 0;
  size_t last_cache = 0;  // bytes of all that these CPUs have (last_cache.h)
  std::string commit{};   // of the source; "": it was built from something else
};
Machine machine_here(const std::string& command);

std::string machine_words(const Machine& m);  // one line: CPU, CPUs, last cache, and made_by

std::string made_by(const Machine& m);  // "nybble 0.1.0 at 6a22438fff, 2026-11-30T09:47:34Z", of one line

}  // namespace nyb
