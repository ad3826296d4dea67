// cgroup.cpp - reads /proc/self/cgroup, /proc/self/mountinfo and the files of limits they lead to.
#include "engine/cgroup.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>
#include <string_view>
#include <vector>

namespace nyb {
namespace {

std::vector<std::string_view> split(std::string_view s, char at) {
  std::vector<std::string_view> parts;
  for (size_t b = 0; b <= s.size();) {
    const size_t e = std::min(s.find(at, b), s.size());
    parts.push_back(s.substr(b, e - b));
    b = e + 1;
  }
  return parts;
}

bool has_word(std::string_view list, std::string_view word) {
  const auto words = split(list, ',');
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::vector<std::string> lines_of(const std::string& path) {
  std::vector<std::string> lines;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// A whole positive number; nothing for "max", "-1" or nonsense.
std::optional<double> positive(std::string_view s) {
  while (!s.empty() && (s.back() == '\n' || s.back() == ' ')) s.remove_suffix(1);
  uint64_t v = 0;
  const auto [end, err] = std::from_chars(s.data(), s.data() + s.size(), v);
  if (err != std::errc() || end != s.data() + s.size() || v == 0) return std::nullopt;
  return static_cast<double>(v);
}

std::optional<double> ratio(std::string_view quota, std::string_view period) {
  const auto q = positive(quota), p = positive(period);
  if (!q || !p) return std::nullopt;
  return *q / *p;
}

// mountinfo writes a space in a path as \040 and so on.
std::string unescape(std::string_view s) {
  const auto octal = [](char c) { return c >= '0' && c <= '7'; };
  std::string out;
  for (size_t i = 0; i < s.size(); i++) {
    if (s[i] == '\\' && i + 3 < s.size() && octal(s[i + 1]) && octal(s[i + 2]) && octal(s[i + 3])) {
      out += static_cast<char>(((s[i + 1] - '0') << 6 | (s[i + 2] - '0') << 3 | (s[i + 3] - '0')) & 0xff);
      i += 3;
    } else {
      out += s[i];
    }
  }
  return out;
}

struct Mount {
  bool v2 = false;
  std::string root, point;  // the part of the hierarchy that is mounted, and where
};

// The hierarchies that can hold a limit of this controller: any cgroup2, and the cgroup with the controller.
std::vector<Mount> mounts_of(const std::string& root, std::string_view controller) {
  std::vector<Mount> mounts;
  for (const std::string& line : lines_of(root + "/proc/self/mountinfo")) {
    const size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    const auto left = split(std::string_view(line).substr(0, dash), ' ');
    const auto right = split(std::string_view(line).substr(dash + 3), ' ');
    if (left.size() < 5 || right.empty()) continue;
    const bool v2 = right[0] == "cgroup2";
    const bool v1 = right[0] == "cgroup" && right.size() >= 3 && has_word(right[2], controller);
    if (v1 || v2) mounts.push_back({v2, unescape(left[3]), unescape(left[4])});
  }
  return mounts;
}

// The process' group in the hierarchy of this kind: "0::/path" in version 2, "4:cpu,cpuacct:/path" in version 1.
std::optional<std::string> group_of(const std::string& root, bool v2, std::string_view controller) {
  for (const std::string& line : lines_of(root + "/proc/self/cgroup")) {
    const size_t a = line.find(':'), b = a == std::string::npos ? a : line.find(':', a + 1);
    if (b == std::string::npos) continue;
    const std::string_view controllers = std::string_view(line).substr(a + 1, b - a - 1);
    if (v2 ? controllers.empty() : has_word(controllers, controller)) return line.substr(b + 1);
  }
  return std::nullopt;
}

// The group's path below the mount point. A group outside what is mounted (another namespace's) leaves the mount point itself.
std::string below(const Mount& m, std::string group) {
  if (group.find("/..") != std::string::npos) return "";
  const std::string& r = m.root;
  if (r != "/") {
    if (group.compare(0, r.size(), r) != 0 || (group.size() > r.size() && group[r.size()] != '/')) return "";
    group.erase(0, r.size());
  }
  while (!group.empty() && group.back() == '/') group.pop_back();
  return group;
}

std::optional<double> quota_at(const std::string& folder, bool v2) {
  if (!v2) return ratio(first_line(folder + "/cpu.cfs_quota_us"), first_line(folder + "/cpu.cfs_period_us"));
  const std::string line = first_line(folder + "/cpu.max");
  const auto words = split(line, ' ');
  return words.size() == 2 ? ratio(words[0], words[1]) : std::nullopt;
}

// The value after one of the words of a file of lines "word value"; 0 where there is none.
double value_of(const std::vector<std::string>& lines, std::string_view word) {
  for (const std::string& line : lines)
    if (line.size() > word.size() && line.starts_with(word) && line[word.size()] == ' ')
      return positive(std::string_view(line).substr(word.size() + 1)).value_or(0);
  return 0;
}

// What the group's files in the page cache take is given back when memory is wanted.
std::optional<CgroupMemory> memory_at(const std::string& folder, bool v2) {
  const auto limit = positive(first_line(folder + (v2 ? "/memory.max" : "/memory.limit_in_bytes")));
  if (!limit) return std::nullopt;
  const double used = positive(first_line(folder + (v2 ? "/memory.current" : "/memory.usage_in_bytes"))).value_or(0);
  const std::vector<std::string> stat = lines_of(folder + "/memory.stat");
  const std::string prefix = v2 ? "" : "total_";
  const double cached = value_of(stat, prefix + "inactive_file") + value_of(stat, prefix + "active_file");
  const double left = std::clamp(*limit - used + std::min(cached, used), 0.0, *limit);
  return CgroupMemory{static_cast<uint64_t>(std::min(*limit, 0x1p62)), static_cast<uint64_t>(std::min(left, 0x1p62))};
}

// Calls visit(folder, is it version 2) for the process' group of every hierarchy with this controller, and for the groups above it.
template <class Visit>
void each_level(const std::string& root, std::string_view controller, const Visit& visit) {
  for (const Mount& m : mounts_of(root, controller)) {
    const auto group = group_of(root, m.v2, controller);
    if (!group) continue;
    const std::string top = root + m.point;
    for (std::string folder = top + below(m, *group);;) {
      visit(folder, m.v2);
      if (folder.size() <= top.size()) break;
      const size_t slash = folder.rfind('/');
      folder.erase(slash == std::string::npos || slash < top.size() ? top.size() : slash);
    }
  }
}

}  // namespace

std::string first_line(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

std::optional<double> cgroup_quota(const std::string& root) {
  std::optional<double> least;
  each_level(root, "cpu", [&](const std::string& folder, bool v2) {
    if (const auto q = quota_at(folder, v2); q && (!least || *q < *least)) least = q;
  });
  return least;
}

std::optional<CgroupMemory> cgroup_memory(const std::string& root) {
  std::optional<CgroupMemory> least;
  each_level(root, "memory", [&](const std::string& folder, bool v2) {
    if (const auto m = memory_at(folder, v2); m && (!least || m->left < least->left)) least = m;
  });
  return least;
}

}  // namespace nyb
