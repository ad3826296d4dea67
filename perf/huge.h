// huge.h - memory that is asked for in huge pages, and whether it is.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace nyb {

// Throws Error naming the option that asks for them where this process gets no huge pages.
void huge_pages_needed(const std::string& option);

// Says so where memory that should be in huge pages is not: the system gives them when it has them. All of it was written before.
void note_huge(const std::string& what, std::span<const std::byte> memory, std::vector<std::string>& notes);

}  // namespace nyb
