// ref_gemm.cpp - products with the vectors of several tokens: by definition those of each by itself.
#include "kern/ref.h"

namespace nyb::ref {
namespace {

// f(x, y): the product with one vector of X.
template <class X, class F>
void each_token(const GemmArgs& a, F&& f) {
  for (size_t t = 0; t < a.tokens; ++t) f(static_cast<const X*>(a.x) + t * a.x_stride, a.y + t * a.y_stride);
}

}  // namespace

void gemm_q8(const GemmArgs* a) {
  each_token<QxGroup>(*a, [a](const QxGroup* x, float* y) { gemv_q8(a->w, a->row_scale, x, y, a->groups, a->panels); });
}

void gemm_q4(const GemmArgs* a) {
  each_token<QxGroup>(*a, [a](const QxGroup* x, float* y) { gemv_q4(a->w, x, y, a->groups, a->panels); });
}

void gemm_q80(const GemmArgs* a) {
  each_token<QxGroup>(*a, [a](const QxGroup* x, float* y) { gemv_q80(a->w, x, y, a->groups, a->panels); });
}

void gemm_q4k(const GemmArgs* a) {
  each_token<QxGroup>(*a, [a](const QxGroup* x, float* y) { gemv_q4k(a->w, x, y, a->groups, a->panels); });
}

void gemm_q6k(const GemmArgs* a) {
  each_token<QxGroup>(*a, [a](const QxGroup* x, float* y) { gemv_q6k(a->w, x, y, a->groups, a->panels); });
}

void gemm_f32(const GemmArgs* a) {
  each_token<float>(*a, [a](const float* x, float* y) { gemv_f32(static_cast<const float*>(a->w), x, y, a->groups, a->panels); });
}

}  // namespace nyb::ref
