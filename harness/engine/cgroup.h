// cgroup.h - the CPU time and the memory that control groups leave this process.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace nyb {

// The smallest quota in CPUs (1.5: one and a half) of the process' groups, version 1 (cpu.cfs_quota_us) and 2 (cpu.max), at every
// level up to the mounted root; nothing where no level has one. `root` is put before /proc and before every mount point.
std::optional<double> cgroup_quota(const std::string& root);

struct CgroupMemory {
  uint64_t limit = 0, left = 0;  // bytes
};

// The level that leaves the least memory, of version 1 (memory.limit_in_bytes) and 2 (memory.max), its files in the page cache
// counted as free; nothing where no level has a limit.
std::optional<CgroupMemory> cgroup_memory(const std::string& root);

// The first line of one of the system's files, without its end; empty when it cannot be read.
std::string first_line(const std::string& path);

}  // namespace nyb
