// source.cpp - the white space around blocks.
#include "text/jinja/source.h"

#include <utility>

namespace nyb::jinja {
namespace {

class Cleaner {
 public:
  explicit Cleaner(std::string_view text) {
    uint32_t line = 1;
    for (size_t i = 0; i < text.size(); ++i) {
      const bool cr = text[i] == '\r';
      if (cr && i + 1 < text.size() && text[i + 1] == '\n') continue;
      put(cr ? '\n' : text[i], line);
      line += s_.text.back() == '\n';
    }
    if (s_.text.ends_with('\n')) resize(s_.text.size() - 1);
  }

  Source run() {
    lstrip();
    trim();
    generation();
    return std::move(s_);
  }

 private:
  void put(char c, uint32_t line) {
    s_.text += c;
    s_.lines.push_back(line);
  }
  void resize(size_t n) {
    s_.text.resize(n);
    s_.lines.resize(n);
  }
  static bool one_of(std::string_view set, const std::string& s, size_t at) {
    return at < s.size() && set.find(s[at]) != std::string_view::npos;
  }

  // Blanks between the beginning of a line and a block leave.
  void lstrip() {
    const Source old = std::exchange(s_, {});
    for (size_t i = 0; i < old.text.size(); ++i) {
      if (i == 0 || old.text[i - 1] == '\n') {
        size_t end = i;
        while (one_of(" \t", old.text, end)) ++end;
        if (one_of("{", old.text, end) && one_of("#%-", old.text, end + 1)) i = end;
      }
      put(old.text[i], old.lines[i]);
    }
  }

  // So does the line end after one.
  void trim() {
    const Source old = std::exchange(s_, {});
    for (size_t i = 0; i < old.text.size(); ++i) {
      const bool after = i >= 2 && old.text[i - 1] == '}' && one_of("#%-", old.text, i - 2);
      if (old.text[i] != '\n' || !after) put(old.text[i], old.lines[i]);
    }
  }

  struct Tag {
    size_t end = 0;  // behind it; 0: there is none
    bool before = false, after = false;
  };

  // {% generation %} or {% endgeneration %} at `at`.
  static Tag tag_at(const std::string& s, size_t at) {
    const auto skip = [&] {
      while (one_of(" \t\n\v\f", s, at)) ++at;
    };
    const auto take = [&](std::string_view word) {
      const bool there = std::string_view(s).substr(at, word.size()) == word;
      if (there) at += word.size();
      return there;
    };
    Tag tag;
    if (!take("{%")) return {};
    tag.before = take("-");
    skip();
    take("end");
    if (!take("generation")) return {};
    skip();
    tag.after = take("-");
    if (!take("%}")) return {};
    tag.end = at;
    return tag;
  }

  void generation() {
    const Source old = std::exchange(s_, {});
    size_t kept = 0;  // what was printed by then stays
    for (size_t i = 0; i < old.text.size();) {
      const Tag tag = tag_at(old.text, i);
      if (tag.end == 0) {
        put(old.text[i], old.lines[i]);
        ++i;
        continue;
      }
      while (tag.before && s_.text.size() > kept && one_of(" \t\n\v\f", s_.text, s_.text.size() - 1)) resize(s_.text.size() - 1);
      for (i = tag.end; one_of(" \t\n\v\f", old.text, i); ++i)
        if (!tag.after) put(old.text[i], old.lines[i]);
      kept = s_.text.size();
    }
  }

  Source s_;
};

}  // namespace

Source source_of(std::string_view text) { return Cleaner(text).run(); }

}  // namespace nyb::jinja
