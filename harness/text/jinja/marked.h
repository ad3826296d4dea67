// marked.h - text that remembers where each byte came from: the template, or a message.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nyb::jinja {

// What a byte is from: 0 is the template; all else is a number that the caller gave a text of its own.
using Origin = uint32_t;

class Marked {
 public:
  static constexpr size_t kChanged = SIZE_MAX;  // the offset of what is no longer the origin's own bytes
  // `end` is where the run ends in this text, `offset` where its first byte was in the origin's text (of the template: 0).
  struct Run {
    size_t end;
    Origin origin;
    size_t offset;
  };

  Marked() = default;
  explicit Marked(std::string_view text, Origin origin = 0) { add(text, origin, 0); }

  const std::string& str() const { return text_; }
  size_t size() const { return text_.size(); }
  bool empty() const { return text_.empty(); }
  const std::vector<Run>& runs() const { return runs_; }  // in order, none empty, neighbours that belong together joined

  void add(const Marked& more) { add(more, 0, more.size()); }
  void add(const Marked& more, size_t from, size_t count);  // a part of it, which must be within it
  void add(std::string_view text, Origin origin = 0, size_t offset = kChanged);
  void cut(size_t size);  // keeps the beginning
  Marked sub(size_t from, size_t count) const;

  // Each character c of it (of what is not UTF-8, each byte) becomes map(c), which keeps c's origin.
  template <class F>
  Marked mapped(F&& map) const;

  bool operator==(const Marked& other) const { return text_ == other.text_; }

 private:
  std::string text_;
  std::vector<Run> runs_;
};

// The length of the character that begins at s[at]; 1 where none does.
size_t char_size(std::string_view s, size_t at);

// What JavaScript takes for white space, as the reference's trim does.
bool space_at(std::string_view s, size_t at, size_t& size);
size_t skip_space(std::string_view s, size_t from = 0);  // where it ends
size_t before_space(std::string_view s);                 // where the white space at the end begins

// Linear time, whatever the texts; npos where it is not there.
size_t find_text(std::string_view hay, std::string_view needle, size_t from = 0);

template <class F>
Marked Marked::mapped(F&& map) const {
  Marked out;
  size_t from = 0;
  for (const Run& run : runs_) {
    for (size_t i = from; i < run.end;) {
      const size_t n = std::min(char_size(text_, i), run.end - i);
      const std::string_view c = std::string_view(text_).substr(i, n);
      const std::string to = map(c);
      const bool same = to == c && run.offset != kChanged && run.origin;
      out.add(to, run.origin, same ? run.offset + (i - from) : kChanged);
      i += n;
    }
    from = run.end;
  }
  return out;
}

}  // namespace nyb::jinja
