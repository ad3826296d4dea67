#include "paths.h"

#include <gtest/gtest.h>

#include "kern/cpu.h"
#include "support/vnni_patch.h"

namespace nyb::test {
namespace {

// The fast emulation writes into the program's code, for which the thread sanitizer has no shadow.
#if defined(__SANITIZE_THREAD__)
constexpr bool kCanPatch = false;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
constexpr bool kCanPatch = false;
#else
constexpr bool kCanPatch = true;
#endif
#else
constexpr bool kCanPatch = true;
#endif

bool has(Path p) { return cpu_missing(cpu_here(), p).empty(); }

}  // namespace

const std::vector<Path>& runnable_paths() {
  static const std::vector<Path> paths = [] {
    std::vector<Path> v{Path::ref};
    const bool lacks = has(Path::avx2) && !(has(Path::vnni) && has(Path::vnni8));
    const bool emulated = lacks && kCanPatch && vnni::install();
    if (emulated) vnni::enable_patching(true);  // whole models: traps would take minutes
    for (const Path p : {Path::avx2, Path::vnni, Path::vnni8, Path::avx512})
      if (has(p) || (emulated && (p == Path::vnni || p == Path::vnni8))) v.push_back(p);
    return v;
  }();
  return paths;
}

void expect_emulated() {
  for (const Path p : runnable_paths()) {
    if (p == Path::ref || has(p)) continue;
    EXPECT_GT(vnni::count() + vnni::patched_sites(), 0u) << path_name(p) << " is not this CPU's, but nothing was emulated";
  }
}

}  // namespace nyb::test
