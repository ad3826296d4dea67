// regex_import.cpp - one construct after the other, refused where the dialects differ.
#include "text/regex_import.h"

#include <fmt/format.h>

#include <cstddef>

#include "kern/error.h"

namespace nyb {
const std::string_view kGpt2Pattern = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

namespace {

// White_Space of Unicode, unchanged since version 6.3. PCRE2's own \s has U+180E as well, which left the property then.
constexpr std::string_view kWhiteSpace =
    R"(\x{09}-\x{0d}\x{20}\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000})";

bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

class Import {
 public:
  Import(std::string_view in, const std::string& where) : in_(in), where_(where) {}

  std::string run() {
    while (i_ < in_.size()) {
      const char c = in_[i_];
      if (c == '\\') {
        escape(false);
      } else if (c == '[') {
        group_of_characters();
      } else if (c == '(') {
        parenthesis();
      } else if (c == '{') {
        repeat();
      } else if (c == '^' || c == '$') {
        refuse(std::string(1, c));  // the end of a line there, of the text here
      } else {
        take();
      }
    }
    return std::move(out_);
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(fmt::format("{} holds \"{}\", which is not understood here", where_, what));
  }

  char peek(size_t ahead = 0) const { return i_ + ahead < in_.size() ? in_[i_ + ahead] : '\0'; }
  void take() { out_ += in_[i_++]; }

  // A backslash and what belongs to it.
  void escape(bool in_class) {
    const char c = peek(1);
    switch (c) {
      case 's': out_ += in_class ? std::string(kWhiteSpace) : fmt::format("[{}]", kWhiteSpace); break;
      case 'S':
        if (in_class) refuse("\\S in brackets");
        out_ += fmt::format("[^{}]", kWhiteSpace);
        break;
      case 'v': out_ += "\\x{0b}"; break;
      case 'r':
      case 'n':
      case 't':
      case 'f':
      case 'd':
      case 'D': out_ += {'\\', c}; break;
      case 'p':
      case 'P': property(); return;
      case 'x':
      case 'u': number(); return;
      default:
        // Of a letter or digit each engine makes what it likes; of anything else in ASCII, itself.
        if (c == '\0' || is_letter(c) || is_digit(c) || static_cast<unsigned char>(c) >= 0x80)
          refuse(std::string(in_.substr(i_, 2)));
        out_ += {'\\', c};
    }
    i_ += 2;
  }

  // \p{Name} and \P{Name}; names are checked when the pattern is compiled.
  void property() {
    const size_t end = in_.find('}', i_);
    if (peek(2) != '{' || end == std::string_view::npos) refuse(std::string(in_.substr(i_, 3)));
    for (size_t k = i_ + 3; k < end; ++k) {
      const char c = in_[k];
      if (!is_letter(c) && c != '_' && !(c == '^' && k == i_ + 3)) refuse(std::string(in_.substr(i_, end + 1 - i_)));
    }
    out_ += in_.substr(i_, end + 1 - i_);
    i_ = end + 1;
  }

  // \x{H...}, \xHH and \uHHHH.
  void number() {
    size_t from = i_ + 2;
    size_t count = 0;
    const bool braces = peek(1) == 'x' && peek(2) == '{';
    if (braces) ++from;
    const size_t most = braces ? 6 : peek(1) == 'x' ? 2 : 4;
    while (count < most && from + count < in_.size() && is_hex(in_[from + count])) ++count;
    const size_t end = from + count + (braces ? 1 : 0);
    if (count == 0 || (!braces && count != most) || (braces && (end > in_.size() || in_[end - 1] != '}'))) {
      refuse(std::string(in_.substr(i_, end - i_)));
    }
    out_ += fmt::format("\\x{{{}}}", in_.substr(from, count));
    i_ = end;
  }

  void group_of_characters() {
    take();
    if (peek() == '^') take();
    if (peek() == ']') refuse("[]");  // an empty class there, a literal bracket here
    while (i_ < in_.size() && in_[i_] != ']') {
      if (in_[i_] == '\\') {
        escape(true);
      } else if (in_[i_] == '[') {
        refuse("[ within brackets");  // a set in a set there, itself here
      } else if (in_[i_] == '&' && peek(1) == '&') {
        refuse("&& within brackets");
      } else {
        take();
      }
    }
    if (i_ == in_.size()) refuse("[ without ]");
    take();
  }

  // Of the groups that begin with "(?", those that mean the same in both.
  void parenthesis() {
    if (peek(1) != '?') {
      if (peek(1) == '*') refuse("(*");
      return take();
    }
    for (const std::string_view known : {"(?:", "(?i:", "(?=", "(?!", "(?<=", "(?<!", "(?>"}) {
      if (in_.substr(i_).starts_with(known)) {
        out_ += known;
        i_ += known.size();
        return;
      }
    }
    refuse(std::string(in_.substr(i_, 4)));
  }

  // {n}, {n,}, {n,m} and {,m}, which PCRE2 learned late.
  void repeat() {
    size_t k = i_ + 1;
    const size_t low = k;
    while (k < in_.size() && is_digit(in_[k])) ++k;
    const bool no_low = k == low;
    const bool comma = k < in_.size() && in_[k] == ',';
    if (comma) ++k;
    const size_t high = k;
    while (k < in_.size() && is_digit(in_[k])) ++k;
    const bool no_high = k == high;
    if (k == in_.size() || in_[k] != '}' || (no_low && (!comma || no_high))) refuse("{");
    if (k + 1 < in_.size() && in_[k + 1] == '+') refuse("}+");  // a repeat of a repeat there, possessive here
    if (no_low) {
      out_ += fmt::format("{{0,{}}}", in_.substr(high, k - high));
    } else {
      out_ += in_.substr(i_, k + 1 - i_);
    }
    i_ = k + 1;
  }

  std::string_view in_;
  const std::string& where_;
  size_t i_ = 0;
  std::string out_;
};

}  // namespace

std::string regex_import(std::string_view regex, const std::string& where) { return Import(regex, where).run(); }

std::string regex_quote(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = is_letter(c) || is_digit(c) || static_cast<unsigned char>(c) >= 0x80;
    if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\x{{{:02x}}}", static_cast<unsigned>(c));
      continue;
    }
    if (!plain) out += '\\';
    out += c;
  }
  return out;
}

}  // namespace nyb
