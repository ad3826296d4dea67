// md_table.cpp - columns padded to the widest cell.
#include "md_table.h"
#include <fmt/format.h>
#include <algorithm>

namespace nyb {

std::string md_table(const std::vector<MdColumn>& columns) {
  const auto width = [](const MdColumn& c) {
    size_t w = std::max<size_t>(3, c.name.size());
    for (const std::string& s : c.cells) w = std::max(w, s.size());
    return w;
  };
  std::string head, rule;
  std::vector<std::string> lines(columns.empty() ? 0 : columns[0].cells.size());
  for (const MdColumn& c : columns) {
    const size_t w = width(c);
    const auto cell = [&](const std::string& s) {
      return c.right ? fmt::format("| {:>{}} ", s, w) : fmt::format("| {:<{}} ", s, w);
    };
    head += cell(c.name);
    rule += c.right ? fmt::format("| {:->{}}: ", "", w - 1) : fmt::format("| {:->{}} ", "", w);
    for (size_t i = 0; i < lines.size(); ++i) lines[i] += cell(c.cells[i]);
  }
  std::string out = head + "|\n" + rule + "|\n";
  for (const std::string& line : lines) out += line + "|\n";
  return out;
}

}  // namespace nyb
