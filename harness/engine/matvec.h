// matvec.h - panels of a weight matrix times the vectors of several tokens.
#pragma once
#include <cstddef>

#include "kern/kern.h"
#include "model/tensor.h"

namespace nyb {

// The input of a product: one vector a token, in the form that the matrix's type takes.
struct MatIn {
  const float* values;    // f32 matrices
  size_t values_stride;   // floats from one token to the next
  const QxGroup* groups;  // all others
  size_t groups_stride;   // groups from one token to the next
};

// Whether products with this type read MatIn::groups (else values).
constexpr bool takes_groups(TType t) { return t != TType::f32 && t != TType::vec; }

// Rows [16 * from, 16 * to) for each token: y + t * y_stride receives 16 * (to - from) floats. Panels are read from memory once
// however many tokens there are. from < to; w is a matrix, not a vector.
void mat_panels(const KernTable& kern, const Tensor& w, size_t from, size_t to, const MatIn& in, size_t tokens, float* y,
                size_t y_stride);

}  // namespace nyb
