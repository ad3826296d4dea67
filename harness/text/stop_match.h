// stop_match.h - ends a stream of text where one of several texts comes.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace nyb {

// Bytes go in as they come; out comes what can no longer be part of a stop text. How the stream is cut into pieces does not
// matter: the first text to become whole ends it, the longest of those that end at the same byte.
class StopMatch {
 public:
  explicit StopMatch(std::vector<std::string> texts);  // none of them empty

  // What may be shown by now. Once matched() nothing more comes out.
  std::string push(std::string_view bytes);
  std::string flush();  // what was held back, where the stream ended by itself
  bool matched() const { return !match_.empty(); }
  const std::string& match() const { return match_; }  // empty where none came

 private:
  std::vector<std::string> texts_;  // the longest first
  std::string held_;                // a beginning of some stop text, or nothing
  std::string match_;
};

}  // namespace nyb
