// ref_exp.cpp - exp8 over vectors and what is built on it: the softmax's numerators and SwiGLU.
#include "kern/ref.h"
#include "kern/ref_mem.h"
#include "kern/ref_scalar.h"

namespace nyb::ref {

void exp8_vec(const float* x, float* y, size_t n) {
  for (size_t i = 0; i < n; ++i) put(y, i, exp8_once(get(x, i)));
}

uint32_t vec_max(const float* x, float* max, size_t n) {
  float best = get(x, 0);
  for (size_t i = 0; i < n; ++i) {
    const float v = get(x, i);
    if (!finite_bits(v)) return 1;
    if (v > best) best = v;
  }
  put(max, 0, best + 0.0f);
  return 0;
}

size_t vec_above(const float* x, size_t n, float bound) {
  size_t i = 0;
  while (i < n && !(get(x, i) > bound)) ++i;
  return i;
}

float softmax_num(const float* x, float* p, size_t n, float max, float mul) {
  Partials part;
  for (size_t i = 0; i < n; ++i) {
    const float e = exp8_once((get(x, i) - max) * mul);
    put(p, i, e);
    part.p[i % 16] = part.p[i % 16] + e;
  }
  return part.tree();
}

void swiglu(const float* g, const float* u, float* y, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    const float gate = get(g, i);
    put(y, i, (gate / (1.0f + exp8_once(-gate))) * get(u, i));
  }
}

}  // namespace nyb::ref
