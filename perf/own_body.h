// own_body.h - which kernels a path runs with code of its own; measuring the others would measure that code twice.
#pragma once
#include <string_view>
#include "kern/kern.h"

namespace nyb {

// False also for a kernel that is not in the list.
inline bool own_body(std::string_view kernel, Path p) {
  for (const KernInfo& info : kern_list())
    if (info.name == kernel) return info.body[static_cast<size_t>(p)] == p;
  return false;
}

}  // namespace nyb
