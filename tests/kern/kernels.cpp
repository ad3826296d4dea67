#include "kern/kernels.h"

#include <stdexcept>

#include "kern/cpu.h"
#include "kern/ref.h"

using nyb::GemmArgs;
using nyb::QxGroup;

extern "C" {
// Only the bodies that the list names have to exist.
#define FORM(name, path, result, params) \
  result nyb_##name##_##path params;     \
  result nyb_##name##_##path##_ms params;  // only its address is used here: called as Win64 has it
#define KERNEL(family, name, result, params, args, ...) \
  FORM(name, avx2, result, params)                      \
  FORM(name, vnni, result, params)                      \
  FORM(name, vnni8, result, params)                     \
  FORM(name, avx512, result, params)
#include "kern/kernels.def"
#undef KERNEL
#undef FORM
}

namespace nyb::test {
namespace {

template <class F>
const void* address(F* f) {
  return reinterpret_cast<const void*>(f);
}

const KernelForms kAllForms[] = {
#define KERNEL(family, name, result, params, args, avx2, vnni, vnni8, avx512)                                          \
  {#name,                                                                                                              \
   {address(kern_table(Path::ref).name), address(kern_table(Path::avx2).name), address(kern_table(Path::vnni).name),   \
    address(kern_table(Path::vnni8).name), address(kern_table(Path::avx512).name)},                                    \
   {Path::ref, Path::avx2, Path::vnni, Path::vnni8, Path::avx512},                                                     \
   {nullptr, address(nyb_##name##_##avx2), address(nyb_##name##_##vnni), address(nyb_##name##_##vnni8),                \
    address(nyb_##name##_##avx512)},                                                                                   \
   {nullptr, address(nyb_##name##_##avx2##_ms), address(nyb_##name##_##vnni##_ms), address(nyb_##name##_##vnni8##_ms), \
    address(nyb_##name##_##avx512##_ms)}},
#include "kern/kernels.def"
#undef KERNEL
};

}  // namespace

std::span<const KernelForms> kernel_forms() { return kAllForms; }

const KernelForms& forms_of(std::string_view name) {
  for (const KernelForms& k : kAllForms) {
    if (k.name == name) return k;
  }
  throw std::out_of_range("no kernel " + std::string(name));
}

bool needs_emulation(Path p) {
  const CpuFeatures& cpu = cpu_here();
  return (p == Path::vnni && !cpu.avx_vnni) || (p == Path::vnni8 && !(cpu.avx_vnni && cpu.avx_vnni_int8));
}

std::string cannot_run(Path p) {
  CpuFeatures cpu = cpu_here();
  cpu.avx_vnni = cpu.avx_vnni_int8 = true;
  return cpu_missing(cpu, p);
}

}  // namespace nyb::test
