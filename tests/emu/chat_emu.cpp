// chat_emu - the whole chat program on the vnni and vnni8 paths, whatever the CPU has: missing instructions are emulated, patched
// into jumps at their first trap. For tests; it says on stderr at exit what was emulated.
#include <cstdio>
#include <cstdlib>

#include "chat/program.h"
#include "support/vnni_emu.h"
#include "support/vnni_patch.h"

namespace {

void say_what_was_emulated() {
  std::fprintf(stderr, "chat_emu: %zu sites patched, %llu instructions emulated by traps\n", nyb::test::vnni::patched_sites(),
               static_cast<unsigned long long>(nyb::test::vnni::count()));
}

}  // namespace

int main(int argc, char** argv) {
  nyb::CpuFeatures cpu = nyb::cpu_here();
  if (!nyb::cpu_missing(cpu, nyb::Path::avx2).empty() || !nyb::test::vnni::install()) {
    std::fprintf(stderr, "chat_emu: the emulation needs a CPU with AVX2, FMA and F16C\n");
    return 1;
  }
  nyb::test::vnni::enable_patching(true);
  cpu.avx_vnni = cpu.avx_vnni_int8 = true;
  if (std::atexit(say_what_was_emulated)) return 1;
  return nyb::chat_main(argc, argv, cpu);
}
