// jinja.cpp - the parts of a template, one after the other.
#include "text/jinja.h"

#include <fmt/format.h>

#include <cstddef>

#include "kern/error.h"

namespace nyb {
namespace {

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

[[noreturn]] void refuse(std::string_view piece, std::string_view why) {
  throw Error(fmt::format("the chat template has \"{}\", {}", jinja_quote(piece), why));
}

// A string between quotes that begins at s[i]; i is left behind it.
std::string quoted(std::string_view s, size_t& i) {
  const size_t from = i;
  const char quote = s[i++];
  std::string out;
  for (; i < s.size() && s[i] != quote; ++i) {
    if (s[i] != '\\') {
      out += s[i];
      continue;
    }
    const char c = ++i < s.size() ? s[i] : '\0';
    switch (c) {
      case 'n': out += '\n'; break;
      case 't': out += '\t'; break;
      case 'r': out += '\r'; break;
      case '\\':
      case '\'':
      case '"': out += c; break;
      default: refuse(s.substr(i - 1, 2), "an escape that is not understood");
    }
  }
  if (i == s.size()) refuse(s.substr(from), "a string without an end");
  ++i;
  return out;
}

std::vector<JinjaToken> tokens_of(std::string_view s) {
  std::vector<JinjaToken> out;
  for (size_t i = 0; i < s.size();) {
    if (is_space(s[i])) {
      ++i;
    } else if (s[i] == '\'' || s[i] == '"') {
      out.push_back({JinjaToken::text, quoted(s, i)});
    } else if (is_word(s[i])) {
      const size_t from = i;
      while (i < s.size() && is_word(s[i])) ++i;
      out.push_back({JinjaToken::word, std::string(s.substr(from, i - from))});
    } else {
      out.push_back({JinjaToken::sign, std::string(1, s[i++])});
    }
  }
  return out;
}

// Where the tag that begins at s[from] ends: behind its closing mark. Marks within strings do not count.
size_t tag_end(std::string_view s, size_t from, std::string_view close) {
  const bool comment = close[0] == '#';
  for (size_t i = from + 2; i + 1 < s.size();) {
    if (!comment && (s[i] == '\'' || s[i] == '"')) {
      quoted(s, i);
    } else if (s.substr(i, 2) == close) {
      return i + 2;
    } else {
      ++i;
    }
  }
  refuse(s.substr(from), "a tag without an end");
}

std::string unix_lines(std::string_view source) {
  std::string out;
  for (size_t i = 0; i < source.size(); ++i) {
    const bool cr = source[i] == '\r';
    if (cr && i + 1 < source.size() && source[i + 1] == '\n') continue;
    out += cr ? '\n' : source[i];
  }
  if (out.ends_with('\n')) out.pop_back();
  return out;
}

void strip_end(std::string& s) {
  while (!s.empty() && is_space(s.back())) s.pop_back();
}

// lstrip_blocks: blanks between the beginning of a line and a block, that at source[at], are not printed.
void strip_line(std::string& text, std::string_view source, size_t at) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (at > 0 && blank(source[at - 1])) --at;
  if (at > 0 && source[at - 1] != '\n') return;
  while (!text.empty() && blank(text.back())) text.pop_back();
}

}  // namespace

std::string jinja_quote(std::string_view piece) {
  constexpr size_t most = 60;
  std::string out(piece.substr(0, most));
  if (piece.size() > most) {
    while (!out.empty() && (static_cast<unsigned char>(out.back()) & 0xc0) == 0x80) out.pop_back();
    out += "...";
  }
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  return out;
}

std::vector<JinjaNode> jinja_nodes(std::string_view source) {
  const std::string lines = unix_lines(source);
  const std::string_view s = lines;
  std::vector<JinjaNode> out;
  std::string text;
  const auto end_text = [&] {
    if (!text.empty()) out.push_back({JinjaNode::text, {}, std::move(text), {}});
    text.clear();
  };
  for (size_t i = 0; i < s.size();) {
    const std::string_view open = s.substr(i, 2);
    const bool output = open == "{{", block = open == "{%", comment = open == "{#";
    if (!output && !block && !comment) {
      text += s[i++];
      continue;
    }
    const size_t end = tag_end(s, i, output ? "}}" : block ? "%}" : "#}");
    const std::string_view tag = s.substr(i, end - i);
    std::string_view inner = tag.substr(2, tag.size() - 4);
    if (inner.starts_with('+') || inner.ends_with('+')) refuse(tag, "white space control that is not understood");
    const bool left = inner.starts_with('-');
    if (left) inner.remove_prefix(1);
    const bool right = inner.ends_with('-');
    if (right) inner.remove_suffix(1);
    if (left) {
      strip_end(text);
    } else if (!output) {
      strip_line(text, s, i);
    }
    i = end;
    if (right) {
      while (i < s.size() && is_space(s[i])) ++i;
    } else if (!output && i < s.size() && s[i] == '\n') {
      ++i;  // trim_blocks: a block's line end is not printed
    }
    if (comment) continue;
    end_text();
    out.push_back({output ? JinjaNode::output : JinjaNode::block, std::string(tag), {}, tokens_of(inner)});
  }
  end_text();
  return out;
}

}  // namespace nyb
