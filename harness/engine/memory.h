// memory.h - memory as the system sees it: what is left, and what this process has.
#pragma once
#include <cstdint>
#include <string>

namespace nyb {

struct MemoryLeft {
  uint64_t bytes = UINT64_MAX;  // UINT64_MAX: the system does not say
  uint64_t group_limit = 0;     // of the control group that leaves no more than that; 0: the machine's own memory is the limit
};

// What can be taken without swapping: MemAvailable, or less where a control group says so. `root` is put before /proc and the mount
// points, so that a test can make a machine up.
MemoryLeft memory_left(const std::string& root = "");

// Why no memory of this process can be in huge pages; empty: it can. (root: as above, for /sys.)
std::string huge_pages_off(const std::string& root = "");

struct RangeUse {
  uint64_t resident = 0, huge = 0;  // bytes in this process' page tables; of them in transparent huge pages
};

// Of the mappings that begin in [begin, begin + size), as /proc/self/smaps has them.
RangeUse range_use(const void* begin, uint64_t size, const std::string& root = "");

// The most memory that the process has had at once; 0 where the system does not say.
uint64_t peak_rss(const std::string& root = "");

}  // namespace nyb
