// paths.cpp - ref is measured only where it is asked for.
#include "paths.h"
#include <fmt/format.h>
#include <algorithm>
#include "kern/error.h"

namespace nyb {

bool own_body(std::string_view kernel, Path p) {
  for (const KernInfo& info : kern_list())
    if (info.name == kernel) return info.body[static_cast<size_t>(p)] == p;
  return false;
}

void check_runs(const CpuFeatures& cpu, Path p) {
  if (const std::string lacks = cpu_missing(cpu, p); !lacks.empty())
    throw Error(fmt::format("this CPU cannot run the path {}: it lacks {}", path_name(p), lacks));
}

std::vector<Path> measured_paths(const CpuFeatures& cpu, const std::vector<Path>& asked, std::vector<std::string>& missing) {
  std::vector<Path> paths;
  for (const Path p : kAllPaths) {
    const bool named = std::find(asked.begin(), asked.end(), p) != asked.end();
    if (asked.empty() ? p == Path::ref : !named) continue;
    if (named) check_runs(cpu, p);
    if (const std::string lacks = cpu_missing(cpu, p); lacks.empty())
      paths.push_back(p);
    else
      missing.push_back(fmt::format("{}: not on this CPU, which lacks {}", path_name(p), lacks));
  }
  return paths;
}

}  // namespace nyb
