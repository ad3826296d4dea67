// ref_fma.cpp - the two scalar functions of the reference that tests and other rooms call by name.
#include "kern/ref.h"
#include "kern/ref_scalar.h"

namespace nyb::ref {

float fma(float a, float b, float c) { return fma_once(a, b, c); }
float exp8(float x) { return exp8_once(x); }

}  // namespace nyb::ref
