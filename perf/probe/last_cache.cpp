// last_cache.cpp - the kernel's own list: the C library's sysconf multiplies by the number of threads on some CPUs.
#include "probe/last_cache.h"
#include <fmt/format.h>
#include <algorithm>
#include <cstdint>
#include <map>
#include "common/options.h"
#include "engine/cgroup.h"
#include "engine/threads.h"

namespace nyb {
namespace {

constexpr int kMostIndexes = 16;
constexpr uint64_t kMostKib = uint64_t{1} << 40;

// "32768K" in bytes; 0 for anything else.
size_t size_of(std::string_view text) {
  if (text.ends_with('K')) text.remove_suffix(1);
  return parse_whole(text, kMostKib).value_or(0) << 10;
}

struct Cache {
  uint64_t level = 0;
  std::string shared_by;  // a list of CPUs
  size_t bytes = 0;
};

Cache last_of(const std::string& root, unsigned cpu) {
  Cache last;
  for (int index = 0; index < kMostIndexes; ++index) {
    const std::string folder = fmt::format("{}/sys/devices/system/cpu/cpu{}/cache/index{}/", root, cpu, index);
    const size_t bytes = size_of(first_line(folder + "size"));
    if (bytes == 0) continue;
    const uint64_t level = parse_whole(first_line(folder + "level")).value_or(0);
    if (std::pair(level, bytes) <= std::pair(last.level, last.bytes)) continue;
    last = {level, first_line(folder + "shared_cpu_list"), bytes};
  }
  if (last.shared_by.empty()) last.shared_by = fmt::format("{}", cpu);
  return last;
}

}  // namespace

LastCache last_cache(const std::string& root) {
  std::map<std::string, size_t> caches;
  for (const unsigned cpu : cpus_allowed(root))
    if (const Cache c = last_of(root, cpu); c.bytes) caches[c.shared_by] = c.bytes;
  LastCache found;
  for (const auto& [cpus, bytes] : caches) {
    found.one = found.one ? std::min(found.one, bytes) : bytes;
    found.all += bytes;
  }
  return found;
}

}  // namespace nyb
