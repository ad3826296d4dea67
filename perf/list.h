// list.h - lists and ranges of numbers on the command line, as llama-bench has them.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nyb {

// "1,2,8", "1-4" (each), "1-9+4" (1, 5, 9), "1-16*2" (1, 2, 4, 8, 16), and any of them joined by commas; each number once, where it
// is first. Throws Error naming the option and what in it is none of this; at most 1000 numbers, each in [low, high].
std::vector<uint32_t> read_list(std::string_view option, const std::string& text, uint32_t low, uint32_t high);

// The parts between commas, each once; none is empty. Throws Error naming the option.
std::vector<std::string> read_words(std::string_view option, const std::string& text);

}  // namespace nyb
