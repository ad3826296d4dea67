// utf8.h - a stream of bytes cut into whole UTF-8 characters.
#pragma once
#include <string>
#include <string_view>

namespace nyb {

// Bytes go in as they come; whole characters come out. What can never become a character comes out as U+FFFD, one per
// maximal ill-formed part (Unicode 15, 3.9 "substitution of maximal subparts").
class Utf8Stream {
 public:
  std::string push(std::string_view bytes);   // all that is whole by now
  std::string flush();                        // the pending rest, as U+FFFD
 private:
  std::string pending_;
};

bool utf8_valid(std::string_view s);
}  // namespace nyb
