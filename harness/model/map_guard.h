// map_guard.h - turns the SIGBUS of a mapped file that shrank, or whose disk failed, into one sentence and exit code 1.
#pragma once
#include <cstddef>
#include <string>

namespace nyb {

// Registers [begin, begin + size) as a mapping of `path` and installs the SIGBUS handler if it is not there (the handler found
// is called for faults elsewhere). Returns what map_guard_remove takes. Any thread.
void* map_guard_add(const void* begin, size_t size, const std::string& path);
void map_guard_remove(void* guard);

}  // namespace nyb
