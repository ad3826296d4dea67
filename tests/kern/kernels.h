// kernels.h - every kernel in every form, from kernels.def: what the tests of the kernels are instantiated over.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "kern/kern.h"
#include "support/checked_call.h"

namespace nyb::test {

// One kernel's addresses.
struct KernelForms {
  std::string_view name;
  const void* table[5];  // what kern_table(path) runs, by path
  Path body[5];          // whose body that is, as the list says
  const void* sysv[5];   // nyb_NAME_BODY of that body; null for ref
  const void* win64[5];  // nyb_NAME_BODY_ms
};
std::span<const KernelForms> kernel_forms();
const KernelForms& forms_of(std::string_view name);

// One function under test.
struct Target {
  std::string name;  // of the kernel
  std::string path;  // "broken" for those that are meant to fail
  Abi abi;
  const void* fn;
  bool emulated;  // its VNNI instructions are computed by the emulation
  std::string label() const { return name + "/" + path + "/" + abi_name(abi); }
};

// Whether the emulation stands in for instructions of this path's own that the CPU lacks.
bool needs_emulation(Path p);
// What keeps this path from running here, emulation included, by name; empty: nothing.
std::string cannot_run(Path p);

}  // namespace nyb::test
