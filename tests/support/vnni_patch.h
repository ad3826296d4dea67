// vnni_patch.h - the fast mode of the emulation: at its first trap an instruction is replaced by a jump to a stub that computes
// it with AVX2, 4 to 14 ns each time instead of 10 us. For whole models. The patched sites stay for the life of the process.
#pragma once
#include <cstddef>
#include <cstdint>

#include "support/vnni_emu.h"

namespace nyb::test::vnni {

void enable_patching(bool on);  // call after install(); does nothing without AVX2
bool patching();
size_t patched_sites();

// Whether such an instruction was emulated, by a trap or by a stub, on any thread since the last forget_runs(). A patched site
// marks each of its runs, so this also holds where all sites were patched long before.
bool ran(Op op);
void forget_runs();
void mark_run(Op op);  // for the SIGILL handler

// For the SIGILL handler. True: the site at rip now jumps to a stub (run it again). False: it cannot (a saturating form, no
// writable text, data out of reach): emulate it.
bool patch_site(uint64_t rip, const Insn& in);
bool is_patched(uint64_t rip);  // another thread may have trapped on the same site just before

}  // namespace nyb::test::vnni
