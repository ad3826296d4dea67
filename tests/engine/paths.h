// paths.h - the kernel paths that the engine's tests can run here, the missing VNNI instructions emulated.
#pragma once
#include <vector>

#include "kern/kern.h"

namespace nyb::test {

// ref, and every path that this CPU has or that the emulation gives it (vnni and vnni8 on a CPU with AVX2). Installs the
// emulation where it is needed. (Not under the thread sanitizer.)
const std::vector<Path>& runnable_paths();

// Where a runnable path's own instructions are missing here: fails unless some were emulated so far.
void expect_emulated();

}  // namespace nyb::test
