// rope_table.cpp - filled as the positions are reached, so that a long context costs nothing before it is used.
#include "engine/rope_table.h"

#include "kern/dmath.h"

namespace nyb {

RopeTable::RopeTable(const ModelShape& shape, size_t ctx)
    : freqs_(shape.rope_freqs),
      factor_(shape.rope_factor),
      half_(shape.rope_freqs.size()),
      cos_("the table of rotations", {ctx, half_}),
      sin_("the table of rotations", {ctx, half_}) {}

void RopeTable::extend(size_t positions) {
  for (; ready_ < positions; ready_++) {
    for (size_t i = 0; i < half_; i++) {
      const SinCos a = det_sincos(static_cast<double>(ready_) * freqs_[i]);
      *cos_.at(ready_ * half_ + i) = static_cast<float>(a.cos) * factor_;
      *sin_.at(ready_ * half_ + i) = static_cast<float>(a.sin) * factor_;
    }
  }
}

}  // namespace nyb
