// threads.h - how many threads help, and why.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace nyb {

struct ThreadChoice {
  unsigned count = 1;
  std::string reason;  // "2 physical cores", "cgroup quota 1.50 CPUs", "asked for by --threads"
};

// The least of: CPUs in the affinity mask, physical cores among them, and the cgroup's quota (v1 or v2, every level up to the
// root) rounded down, but at least 1. What cannot be read or makes no sense is no limit. `root` is put before /proc and /sys, so
// that a test can make a machine up; with one, the affinity mask is Cpus_allowed_list of root/proc/self/status where there is one.
ThreadChoice threads_default(const std::string& root = "");

// `asked` (from --threads; 0: not given), else NYBBLE_THREADS, else the default. Throws Error for a value outside 1..1024.
ThreadChoice threads_pick(long asked, const char* env, const std::string& root = "");

// The CPUs of the affinity mask (root: as above), at least one.
std::vector<unsigned> cpus_allowed(const std::string& root = "");

// How many threads can run at once: the affinity mask and the cgroup's quota rounded down, at least 1. Not less than
// threads_default, which leaves out the second thread of a core.
unsigned cpus_usable(const std::string& root = "");

}  // namespace nyb
