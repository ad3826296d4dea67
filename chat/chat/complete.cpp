// complete.cpp - commands and names of files.
#include "chat/complete.h"
#include <fmt/format.h>
#include <algorithm>
#include <cwchar>
#include <filesystem>
#include "chat/typed.h"
#include "common/input.h"

namespace nyb {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostShown = 200;

bool has_control(std::string_view s) {
  return std::any_of(s.begin(), s.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

// The longest common beginning that ends no character in its middle.
std::string common_beginning(const std::vector<std::string>& names) {
  std::string_view common = names.front();
  for (const std::string& n : names) {
    const auto differ = std::mismatch(common.begin(), common.end(), n.begin(), n.end());
    common = common.substr(0, static_cast<size_t>(differ.first - common.begin()));
  }
  const auto inside = [&] { return common.size() < names.front().size() && (names.front()[common.size()] & 0xc0) == 0x80; };
  while (!common.empty() && inside()) common.remove_suffix(1);
  return std::string(common);
}

// `names` begin with `given`, which is on the line already; `end` follows the only one.
Completion of(std::vector<std::string> names, std::string_view given, std::string_view end) {
  if (names.empty()) return {};
  std::sort(names.begin(), names.end());
  Completion c;
  c.insert = common_beginning(names).substr(given.size());
  if (names.size() == 1) {
    c.insert += end;
  } else {
    c.choices = std::move(names);
  }
  return c;
}

Completion file(std::string_view path) {
  if (path == "~") return {"/", {}};
  const size_t slash = path.rfind('/');
  const std::string_view folder = slash == std::string_view::npos ? std::string_view() : path.substr(0, slash + 1);
  const std::string_view base = path.substr(folder.size());
  std::vector<std::string> names;
  std::error_code ec;
  for (fs::directory_iterator at(folder.empty() ? std::string(".") : expand_home(folder), ec), none; !ec && at != none;
       at.increment(ec)) {
    std::string name = at->path().filename().string();
    if (!name.starts_with(base) || has_control(name) || (name[0] == '.' && !base.starts_with('.'))) continue;
    std::error_code unknown;
    if (at->is_directory(unknown)) name += '/';
    names.push_back(std::move(name));
  }
  return of(std::move(names), base, "");
}

}  // namespace

Completion complete(const CommandWords& words, std::string_view before) {
  if (!before.starts_with('/')) return {};
  const size_t blank = before.find_first_of(" \t");
  const std::string_view word = before.substr(0, blank);
  if (blank == std::string_view::npos) {
    std::vector<std::string> fit;
    for (const std::string& w : words.all)
      if (w.starts_with(word)) fit.push_back(w);
    return of(std::move(fit), word, " ");
  }
  if (std::find(words.take_file.begin(), words.take_file.end(), word) == words.take_file.end()) return {};
  const size_t begin = before.find_first_not_of(" \t", blank);
  return file(begin == std::string_view::npos ? std::string_view() : before.substr(begin));
}

std::string choice_table(const std::vector<std::string>& choices, int columns) {
  const size_t shown = std::min(choices.size(), kMostShown);
  const auto width = [](const std::string& s) {
    const std::wstring wide = typed_wide(s);
    return std::max(wcswidth(wide.c_str(), wide.size()), 0);
  };
  int widest = 0;
  for (size_t i = 0; i < shown; ++i) widest = std::max(widest, width(choices[i]));
  const size_t in_row = static_cast<size_t>(std::max(1, columns / (widest + 2))), rows = (shown + in_row - 1) / in_row;
  std::string out;
  for (size_t row = 0; row < rows; ++row) {
    for (size_t i = row; i < shown; i += rows) {
      out += choices[i];
      if (i + rows < shown) out.append(static_cast<size_t>(widest + 2 - width(choices[i])), ' ');
    }
    out += '\n';
  }
  if (shown < choices.size()) out += fmt::format("... and {} more\n", choices.size() - shown);
  return out;
}

}  // namespace nyb
