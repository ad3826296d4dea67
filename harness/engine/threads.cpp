// threads.cpp - the affinity mask, the cores behind it, the quota above it.
#include "engine/threads.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "engine/cgroup.h"
#include "kern/error.h"

namespace nyb {
namespace {

constexpr unsigned kMostThreads = 1024;
constexpr unsigned kMostCpus = 1u << 16;  // more than Linux knows; keeps a nonsensical list in bounds

// "0-3,8,10-11", as the kernel writes a set of CPUs; nothing when it is not one.
std::optional<std::vector<unsigned>> parse_cpus(std::string_view s) {
  while (!s.empty() && (s.back() == '\n' || s.back() == ' ')) s.remove_suffix(1);
  std::vector<unsigned> cpus;
  const char *p = s.data(), *const end = p + s.size();
  while (p != end) {
    unsigned a = 0;
    auto r = std::from_chars(p, end, a);
    if (r.ec != std::errc()) return std::nullopt;
    unsigned b = a;
    if (r.ptr != end && *r.ptr == '-') {
      r = std::from_chars(r.ptr + 1, end, b);
      if (r.ec != std::errc()) return std::nullopt;
    }
    if (b < a || b >= kMostCpus) return std::nullopt;
    for (unsigned c = a; c <= b; c++) cpus.push_back(c);
    p = r.ptr;
    if (p != end && *p++ != ',') return std::nullopt;
  }
  if (cpus.empty()) return std::nullopt;
  return cpus;
}

std::vector<unsigned> kernel_mask() {
  for (unsigned n = 1024; n <= kMostCpus; n *= 2) {  // the call refuses a mask shorter than the kernel's
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(CPU_ALLOC(n), [](cpu_set_t* s) { CPU_FREE(s); });
    const size_t bytes = CPU_ALLOC_SIZE(n);
    if (!set || sched_getaffinity(0, bytes, set.get()) != 0) continue;
    std::vector<unsigned> cpus;
    for (unsigned c = 0; c < n; c++)
      if (CPU_ISSET_S(c, bytes, set.get())) cpus.push_back(c);
    if (!cpus.empty()) return cpus;
  }
  return {0};
}

// Which core a CPU is part of, as the least CPU of that core. A CPU that the system says nothing about is a core of its own.
unsigned core_of(const std::string& root, unsigned cpu) {
  const std::string folder = root + "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
  for (const char* name : {"core_cpus_list", "thread_siblings_list"})  // the second is the older name
    if (const auto cpus = parse_cpus(first_line(folder + name)))
      if (std::find(cpus->begin(), cpus->end(), cpu) != cpus->end()) return *std::min_element(cpus->begin(), cpus->end());
  return cpu;
}

struct Limits {
  size_t allowed = 1, online = 0, cores = 1;
  std::optional<double> quota;
  unsigned quota_cpus() const {  // rounded down, but at least 1
    return static_cast<unsigned>(std::clamp(std::floor(*quota), 1.0, static_cast<double>(kMostCpus)));
  }
};

Limits limits_of(const std::string& root) {
  Limits l;
  const std::vector<unsigned> cpus = cpus_allowed(root);
  std::set<unsigned> cores;
  for (const unsigned c : cpus) cores.insert(core_of(root, c));
  l.allowed = cpus.size();
  l.cores = cores.size();
  if (const auto online = parse_cpus(first_line(root + "/sys/devices/system/cpu/online"))) l.online = online->size();
  l.quota = cgroup_quota(root);
  return l;
}

ThreadChoice asked_for(long n, const char* by) {
  if (n < 1 || n > static_cast<long>(kMostThreads))
    throw Error(fmt::format("{} is {}, but the number of threads must be 1 to {}", by, n, kMostThreads));
  return {static_cast<unsigned>(n), std::string("asked for by ") + by};
}

}  // namespace

ThreadChoice threads_default(const std::string& root) {
  const Limits l = limits_of(root);
  const auto cores = static_cast<unsigned>(std::min<size_t>(l.cores, kMostThreads));
  if (l.quota && l.quota_cpus() < cores)
    return {l.quota_cpus(), fmt::format("cgroup quota {:.2f} CPUs", std::floor(*l.quota * 100 + 1e-6) / 100)};
  const char* s = cores == 1 ? "" : "s";
  if (l.allowed >= l.online) return {cores, fmt::format("{} physical core{}", cores, s)};
  if (l.cores < l.allowed) return {cores, fmt::format("{} physical core{} of the affinity mask's {} CPUs", cores, s, l.allowed)};
  return {cores, fmt::format("affinity mask of {} CPU{}", cores, s)};
}

ThreadChoice threads_pick(long asked, const char* env, const std::string& root) {
  if (asked != 0) return asked_for(asked, "--threads");
  if (!env || !*env) return threads_default(root);
  const std::string_view text(env);
  long n = 0;
  const auto r = std::from_chars(text.data(), text.data() + text.size(), n);
  if (r.ec != std::errc() || r.ptr != text.data() + text.size())
    throw Error(fmt::format("NYBBLE_THREADS is \"{}\", but the number of threads must be 1 to {}", text, kMostThreads));
  return asked_for(n, "NYBBLE_THREADS");
}

std::vector<unsigned> cpus_allowed(const std::string& root) {
  if (!root.empty()) {
    constexpr std::string_view key = "Cpus_allowed_list:";
    std::ifstream in(root + "/proc/self/status");
    for (std::string line; std::getline(in, line);) {
      if (line.compare(0, key.size(), key) != 0) continue;
      if (auto cpus = parse_cpus(line.substr(std::min(line.find_first_not_of(" \t", key.size()), line.size())))) return *cpus;
    }
  }
  return kernel_mask();
}

unsigned cpus_usable(const std::string& root) {
  const size_t allowed = std::min<size_t>(cpus_allowed(root).size(), kMostCpus);
  const auto quota = cgroup_quota(root);
  const double most = quota ? std::max(std::floor(*quota), 1.0) : static_cast<double>(kMostCpus);
  return static_cast<unsigned>(std::min(static_cast<double>(allowed), most));
}

}  // namespace nyb
