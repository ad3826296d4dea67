// lexer.cpp - the tokens of a template, one after the other.
#include "text/jinja/lexer.h"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>

#include "kern/error.h"
#include "text/jinja/marked.h"
#include "text/jinja/source.h"
#include "text/utf8.h"

namespace nyb::jinja {
namespace {

constexpr size_t kMostSource = size_t{1} << 20;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_'; }

class Lexer {
 public:
  explicit Lexer(Source source) : source_(std::move(source)), s_(source_.text) {}

  std::vector<Token> run() {
    while (at_ < s_.size()) {
      text();
      if (s_.substr(at_, 2) == "{#") {
        comment();
      } else if (at_ < s_.size()) {
        tag();
      }
    }
    push(Token::end, {});
    return std::move(out_);
  }

 private:
  uint32_t line() const { return source_.lines.empty() ? 1 : source_.lines[std::min(at_, source_.lines.size() - 1)]; }
  void push(Token::Kind kind, std::string value) { out_.push_back({kind, std::move(value), line()}); }

  void text() {
    const size_t from = at_;
    while (at_ < s_.size() && !(s_[at_] == '{' && at_ + 1 < s_.size() && std::string_view("%{#").find(s_[at_ + 1]) != s_.npos)) {
      ++at_;
    }
    if (at_ == from) return;
    out_.push_back({Token::text, std::string(s_.substr(from, at_ - from)), source_.lines[from]});
    after_text_ = true;
  }

  // {{- and the like: nothing is left of the white space before.
  void strip_before() {
    if (!after_text_) return;
    std::string& text = out_.back().value;
    text.resize(before_space(text));
    if (text.empty()) out_.pop_back();
  }

  void comment() {
    const size_t end = s_.find("#}", at_ + 2);
    if (end == s_.npos) fail_at(line(), "a comment without an end");
    const std::string_view inside = s_.substr(at_ + 2, end - at_ - 2);
    if (inside.starts_with('-')) strip_before();
    after_text_ = false;
    at_ = end + 2;
    if (inside.ends_with('-')) at_ = skip_space(s_, at_);
  }

  void tag() {
    const bool block = s_[at_ + 1] == '%';
    const std::string_view close = block ? "%}" : "}}";
    const uint32_t opened = line();
    const bool dash = s_.substr(at_ + 2, 1) == "-";
    if (dash) strip_before();
    after_text_ = false;
    push(block ? Token::block_open : Token::print_open, {});
    at_ += dash ? 3 : 2;
    for (size_t braces = 0;;) {
      at_ = skip_space(s_, at_);
      if (at_ >= s_.size()) fail_at(opened, "a tag without an end");
      const bool stripped = s_[at_] == '-' && s_.substr(at_ + 1, 2) == close;
      if (stripped || (s_.substr(at_, 2) == close && (block || braces == 0))) {
        push(block ? Token::block_close : Token::print_close, {});
        at_ += stripped ? 3 : 2;
        if (stripped) at_ = skip_space(s_, at_);
        return;
      }
      if (s_[at_] == '{') ++braces;
      if (s_[at_] == '}' && braces > 0) --braces;
      word();
    }
  }

  void word() {
    const char c = s_[at_];
    if (c == '\'' || c == '"') return string();
    if (is_digit(c)) return number();
    if (is_word(c)) {
      const size_t from = at_;
      while (at_ < s_.size() && is_word(s_[at_])) ++at_;
      return push(Token::name, std::string(s_.substr(from, at_ - from)));
    }
    for (const std::string_view sign : {"<=", ">=", "==", "!=", "**", "//"}) {
      if (s_.substr(at_, 2) != sign) continue;
      at_ += 2;
      return push(Token::sign, std::string(sign));
    }
    if (std::string_view("(){}[],.:|<>+-~*/%=").find(c) == std::string_view::npos)
      fail_at(line(), fmt::format("\"{}\" is not understood here", shown(s_.substr(at_, char_size(s_, at_)))));
    ++at_;
    push(Token::sign, std::string(1, c));
  }

  void number() {
    const size_t from = at_;
    const auto digits = [&] {
      while (at_ < s_.size() && is_digit(s_[at_])) ++at_;
    };
    digits();
    if (!out_.back().is(Token::sign, ".") && at_ + 1 < s_.size() && s_[at_] == '.' && is_digit(s_[at_ + 1])) {
      ++at_;
      digits();
    }
    push(Token::number, std::string(s_.substr(from, at_ - from)));
  }

  void string() {
    const char quote = s_[at_++];
    const uint32_t begun = line();
    std::string value;
    while (at_ < s_.size() && s_[at_] != quote) {
      if (s_[at_] == '\\') {
        value += escape();
      } else {
        value += s_[at_++];
      }
    }
    if (at_ >= s_.size()) fail_at(begun, "a string without an end");
    ++at_;
    push(Token::string, std::move(value));
  }

  std::string escape() {
    const char c = at_ + 1 < s_.size() ? s_[at_ + 1] : '\0';
    constexpr std::string_view names = "ntrbfv'\"\\", values = "\n\t\r\b\f\v'\"\\";
    if (const size_t i = names.find(c); i != names.npos) {
      at_ += 2;
      return std::string(1, values[i]);
    }
    if (c != 'x' && c != 'u') fail_at(line(), fmt::format("the escape \"\\{}\" is not understood", shown(s_.substr(at_ + 1, 1))));
    char32_t code = hex(at_ + 2, c == 'x' ? 2 : 4);
    at_ += c == 'x' ? 4 : 6;
    if (code >= 0xd800 && code < 0xdc00 && s_.substr(at_, 2) == "\\u") {  // half of a character; the other half follows
      if (const char32_t low = hex(at_ + 2, 4); low >= 0xdc00 && low < 0xe000) {
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        at_ += 6;
      }
    }
    utf8proc_uint8_t out[4];
    const utf8proc_ssize_t n =
        utf8proc_encode_char(code >= 0xd800 && code < 0xe000 ? 0xfffd : static_cast<utf8proc_int32_t>(code), out);
    return {reinterpret_cast<const char*>(out), static_cast<size_t>(n)};
  }

  char32_t hex(size_t from, size_t count) const {
    char32_t v = 0;
    for (size_t i = from; i < from + count; ++i) {
      const char c = i < s_.size() ? s_[i] : '\0';
      const int digit = is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
      if (digit < 0)
        fail_at(line(), fmt::format("an escape of {} digits is wanted at \"{}\"", count, shown(s_.substr(from - 2, count + 2))));
      v = v * 16 + static_cast<char32_t>(digit);
    }
    return v;
  }

  Source source_;
  std::string_view s_;
  size_t at_ = 0;
  bool after_text_ = false;  // the last token is a text, and nothing came after it
  std::vector<Token> out_;
};

}  // namespace

std::vector<Token> tokens_of(std::string_view source) {
  if (source.size() > kMostSource)
    throw Error(fmt::format("the chat template has {} bytes, more than the {} that are read", source.size(), kMostSource));
  return Lexer(source_of(source)).run();
}

void fail_at(uint32_t line, const std::string& what) { throw Error(fmt::format("the chat template, line {}: {}", line, what)); }

std::string shown(std::string_view piece) {
  constexpr size_t most = 60;
  std::string out(piece.substr(0, most));
  if (piece.size() > most) out = out.substr(0, utf8_valid_prefix(out)) + "...";
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  return out;
}

}  // namespace nyb::jinja
