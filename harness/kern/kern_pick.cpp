// kern_pick.cpp - which path runs: the one asked for, or the best that the CPU has; and why, in one phrase.
#include "kern/cpu.h"
#include "kern/error.h"
#include "kern/kern.h"

namespace nyb {
namespace {

// Best first. The CPUs that have both avx512 and vnni do the same work in half the instructions with 512 bits.
constexpr Path kPreference[] = {Path::avx512, Path::vnni8, Path::vnni, Path::avx2};

Path path_asked(const CpuFeatures& cpu, std::string_view name, std::string_view where) {
  const std::optional<Path> p = path_parse(name);
  if (!p)
    throw Error("there is no kernel path \"" + std::string(name) + "\", asked for by " + std::string(where) + "; use one of " +
                path_names());
  const std::string missing = cpu_missing(cpu, *p);
  if (missing.empty()) return *p;
  throw Error("the kernel path " + std::string(name) + ", asked for by " + std::string(where) +
              ", cannot run on this CPU, which lacks " + missing + "; without " + std::string(where) +
              " the best path that can run is taken");
}

KernChoice best_path(const CpuFeatures& cpu) {
  const Path* best = nullptr;
  for (const Path& p : kPreference) {
    if (!best && cpu_missing(cpu, p).empty()) best = &p;
  }
  if (!best) return {kern_table(Path::ref), "the slow scalar path: this CPU lacks " + cpu_missing(cpu, Path::avx2)};
  std::string can;
  for (const Path p : kAllPaths) {
    if (p == Path::ref || !cpu_missing(cpu, p).empty()) continue;
    if (!can.empty()) can += ", ";
    can += path_name(p);
  }
  const bool choice = can != path_name(*best);
  return {kern_table(*best), choice ? "best of " + can : "the only vector path that this CPU has"};
}

}  // namespace

KernChoice kern_pick(const CpuFeatures& cpu, std::string_view asked, const char* env) {
  if (!asked.empty()) return {kern_table(path_asked(cpu, asked, "--kernel")), "asked for by --kernel"};
  if (env && *env) return {kern_table(path_asked(cpu, env, "NYBBLE_KERNEL")), "asked for by NYBBLE_KERNEL"};
  return best_path(cpu);
}

}  // namespace nyb
