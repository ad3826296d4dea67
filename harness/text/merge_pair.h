// merge_pair.h - a merge as one string, "a b".
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace nyb {

// The two parts, either of which may be empty; nullopt when `both` does not have exactly one blank.
inline std::optional<std::pair<std::string, std::string>> merge_pair(std::string_view both) {
  const size_t blank = both.find(' ');
  if (blank == both.npos || both.find(' ', blank + 1) != both.npos) return std::nullopt;
  return std::pair(std::string(both.substr(0, blank)), std::string(both.substr(blank + 1)));
}

}  // namespace nyb
