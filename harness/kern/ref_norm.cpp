// ref_norm.cpp - the element-wise kernels: addition, RMSNorm, RoPE and the conversion to f16.
#include <emmintrin.h>
#include "kern/f16.h"
#include "kern/ref.h"
#include "kern/ref_mem.h"
#include "kern/ref_scalar.h"

namespace nyb::ref {
namespace {

// The instruction, which is correctly rounded by definition, not a libm's function.
float sqrt_once(float x) { return _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(x))); }

}  // namespace

void vec_add(const float* a, const float* b, float* y, size_t n) {
  for (size_t i = 0; i < n; ++i) put(y, i, get(a, i) + get(b, i));
}

uint32_t rmsnorm(const float* x, const float* w, float* y, size_t n, float eps) {
  Partials part;
  for (size_t i = 0; i < n; ++i) {
    const float v = get(x, i);
    part.p[i % 16] = fma_once(v, v, part.p[i % 16]);
  }
  const float ss = part.tree();
  if (!finite_bits(ss)) return 1;
  const float rstd = 1.0f / sqrt_once(ss / static_cast<float>(n) + eps);
  for (size_t i = 0; i < n; ++i) put(y, i, (get(x, i) * rstd) * get(w, i));
  return 0;
}

void rope(float* x, const float* cs, const float* sn, size_t half, size_t stride, size_t heads) {
  for (size_t head = 0; head < heads; ++head) {
    for (size_t i = 0; i < half; ++i) {
      const float c = get(cs, i);
      const float s = get(sn, i);
      const float a = get(x, head * stride + i);
      const float b = get(x, head * stride + half + i);
      put(x, head * stride + i, fma_once(a, c, -(b * s)));
      put(x, head * stride + half + i, fma_once(b, c, a * s));
    }
  }
}

uint32_t f32_to_f16(const float* x, uint16_t* y, size_t n) {
  uint32_t bad = 0;
  for (size_t i = 0; i < n; ++i) {
    const uint16_t h = nyb::f32_to_f16(get(x, i));
    if ((h & 0x7c00u) == 0x7c00u) bad = 1;
    put(y, i, h);
  }
  return bad;
}

}  // namespace nyb::ref
