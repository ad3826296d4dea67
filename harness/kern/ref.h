// ref.h - the scalar reference, which is the definition of every kernel (docs/numerics.md).
#pragma once
#include "kern/kern.h"

namespace nyb::ref {
#define KERNEL(family, name, result, params, args, ...) result name params;
#include "kern/kernels.def"
#undef KERNEL

// One lane of exp8, and the project's own fma (some C libraries have shipped a wrongly rounded fmaf).
float exp8(float x);
float fma(float a, float b, float c);
}  // namespace nyb::ref
