// cgroup.h - the CPU time that control groups leave this process.
#pragma once
#include <optional>
#include <string>

namespace nyb {

// The smallest quota in CPUs (1.5: one and a half) of the process' groups, version 1 (cpu.cfs_quota_us) and 2 (cpu.max), at every
// level up to the mounted root; nothing where no level has one. `root` is put before /proc and before every mount point.
std::optional<double> cgroup_quota(const std::string& root);

// The first line of one of the system's files, without its end; empty when it cannot be read.
std::string first_line(const std::string& path);

}  // namespace nyb
