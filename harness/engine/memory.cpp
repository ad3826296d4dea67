// memory.cpp - reads /proc/meminfo, /proc/self/smaps, /proc/self/status and the switch of transparent huge pages.
#include "engine/memory.h"

#include <sys/prctl.h>

#include <charconv>
#include <fstream>
#include <optional>
#include <string_view>

#include "engine/cgroup.h"

namespace nyb {
namespace {

constexpr const char* kSwitch = "/sys/kernel/mm/transparent_hugepage/enabled";

// "Name:     1234 kB" in bytes; nothing for another line.
std::optional<uint64_t> kilobytes(std::string_view line, std::string_view name) {
  if (!line.starts_with(name)) return std::nullopt;
  line.remove_prefix(name.size());
  while (!line.empty() && (line[0] == ' ' || line[0] == '\t')) line.remove_prefix(1);
  uint64_t v = 0;
  const auto [end, ec] = std::from_chars(line.data(), line.data() + line.size(), v);
  if (ec != std::errc() || v > UINT64_MAX >> 10) return std::nullopt;
  return v << 10;
}

std::optional<uint64_t> kilobytes_in(const std::string& path, std::string_view name) {
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);)
    if (const auto v = kilobytes(line, name)) return v;
  return std::nullopt;
}

// "7f0000000000-7f0000200000 r--p ...": where a mapping begins; nothing for the lines that tell about it.
std::optional<uint64_t> mapping_begin(std::string_view line) {
  uint64_t v = 0;
  const auto [end, ec] = std::from_chars(line.data(), line.data() + line.size(), v, 16);
  if (ec != std::errc() || end == line.data() + line.size() || *end != '-') return std::nullopt;
  return v;
}

}  // namespace

MemoryLeft memory_left(const std::string& root) {
  MemoryLeft m;
  if (const auto available = kilobytes_in(root + "/proc/meminfo", "MemAvailable:")) m.bytes = *available;
  if (const auto group = cgroup_memory(root); group && group->left < m.bytes) m = {group->left, group->limit};
  return m;
}

std::string huge_pages_off(const std::string& root) {
  const std::string line = first_line(root + kSwitch);
  if (line.empty()) return "this system has no transparent huge pages";
  if (line.find("[never]") != std::string::npos) return std::string(kSwitch) + " says never";
  if (root.empty() && prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0) == 1) return "this process was started without transparent huge pages";
  return {};
}

RangeUse range_use(const void* begin, uint64_t size, const std::string& root) {
  const auto from = reinterpret_cast<uint64_t>(begin);
  RangeUse use;
  bool inside = false;
  std::ifstream in(root + "/proc/self/smaps");
  for (std::string line; std::getline(in, line);) {
    if (const auto at = mapping_begin(line)) {
      inside = *at >= from && *at - from < size;
    } else if (inside) {
      use.resident += kilobytes(line, "Rss:").value_or(0);
      use.huge += kilobytes(line, "AnonHugePages:").value_or(0);
    }
  }
  return use;
}

uint64_t peak_rss(const std::string& root) { return kilobytes_in(root + "/proc/self/status", "VmHWM:").value_or(0); }

}  // namespace nyb
