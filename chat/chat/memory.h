// memory.h - what a running model takes.
#pragma once
#include <cstdint>
#include <string>
#include "chat/runtime.h"

namespace nyb {

// Bytes. The engine's are what it asked for: of them only what was used is resident.
struct MemoryReport {
  LoadMode load = LoadMode::map;
  uint64_t file = 0;                         // of the model; mapped, or copied into memory
  uint64_t resident = 0, huge = 0;           // of the map or the copy: in memory, and of that in huge pages
  uint64_t kv = 0, working = 0, engine = 0;  // the KV cache, all else of the engine, and both
  uint64_t peak = 0;                         // the most that the whole process has had at once (peak RSS)
};
MemoryReport memory_report(const Runtime& r);

// One line, decimal units.
std::string memory_line(const MemoryReport& m);
// load_line and memory_line of now, a line each, without the last one's end.
std::string usage_lines(const Runtime& r);
// One line: how long loading took, and which part of it what.
std::string load_line(const Runtime& r);

}  // namespace nyb
