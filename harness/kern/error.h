// error.h - the one exception of the project: a sentence for the person who runs it. Programs print it and exit with 1.
#pragma once
#include <stdexcept>
#include <string>

namespace nyb {
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};
}  // namespace nyb
