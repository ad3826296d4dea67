// splitter.h - the pre-tokenizer: text cut into words by patterns, before any merging.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace nyb {

// The Unicode version of the library's properties, "14.0.0" for PCRE2 10.42. Which characters are letters is part of the answer, so
// a model file keeps the version that it was converted with (key::tok_unicode).
std::string splitter_unicode();

class Splitter {
 public:
  static constexpr size_t max_patterns = 16;

  // PCRE2 patterns, compiled for UTF-8 with Unicode's properties: each cuts the words that the one before it left, every one as a
  // text of its own. Throws Error with the place that is wrong in one, and for none or more than max_patterns.
  explicit Splitter(const std::vector<std::string>& patterns);
  explicit Splitter(const std::string& pattern) : Splitter(std::vector<std::string>{pattern}) {}
  ~Splitter();

  // Calls `word` with the words of `text` in order; together they are the text. Each match of a pattern is a word, and so is what
  // lies between two matches. Text that is not UTF-8 is cut first: each run of valid UTF-8 is matched as a text of its own, and
  // each maximal ill-formed part between (Unicode 3.9, as in utf8.h) is a word. Throws Error when the pattern takes more steps than
  // a sane one can; nothing else, and the stack is not used up.
  void split(std::string_view text, const std::function<void(std::string_view)>& word) const;

 private:
  struct Code;
  class Matcher;
  std::vector<Code> codes_;
};

}  // namespace nyb
