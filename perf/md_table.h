// md_table.h - a table in Markdown that is read without a renderer too.
#pragma once
#include <string>
#include <vector>

namespace nyb {

struct MdColumn {
  std::string name;
  bool right;                      // numbers
  std::vector<std::string> cells;  // as many as every other column has
};

std::string md_table(const std::vector<MdColumn>& columns);

}  // namespace nyb
