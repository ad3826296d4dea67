// utf8.h - a stream of bytes cut into whole UTF-8 characters.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace nyb {

inline constexpr std::string_view kUtf8Replacement = "\xEF\xBF\xBD";  // U+FFFD

// Bytes go in as they come; whole characters come out. What can never become a character comes out as U+FFFD, one per
// maximal ill-formed part (Unicode 15, 3.9 "substitution of maximal subparts").
class Utf8Stream {
 public:
  std::string push(std::string_view bytes);  // all that is whole by now
  std::string flush();                       // the pending rest, as U+FFFD
 private:
  std::string pending_;  // the beginning of a character, at most three bytes
};

bool utf8_valid(std::string_view s);

// How many leading bytes of `s` are whole characters.
size_t utf8_valid_prefix(std::string_view s);

// `s` is not empty and does not begin with a whole character. The length of the maximal ill-formed part at its beginning:
// the longest beginning of a character that stands there, or one byte. One that reaches to the end of `s` may still be
// the beginning of a character.
size_t utf8_ill_formed(std::string_view s);

// Whether `s` is a true beginning of a character, and only that.
bool utf8_is_beginning(std::string_view s);

// How many bytes at the beginning, or at the end, of `s` are characters of Unicode's White_Space.
size_t white_space_prefix(std::string_view s);
size_t white_space_suffix(std::string_view s);

}  // namespace nyb
