// source.h - a template's text before it is taken apart: the white space that its blocks take with them is gone.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nyb::jinja {

struct Source {
  std::string text;
  std::vector<uint32_t> lines;  // for each byte, the line it was on
};

// Line ends become "\n", one at the very end leaves; trim_blocks and lstrip_blocks; {% generation %}, which marks what a model is
// trained on and prints nothing, leaves with the white space that its dashes take.
Source source_of(std::string_view text);

}  // namespace nyb::jinja
