// soon.cpp - panels' addresses.
#include "engine/soon.h"

namespace nyb {

Beginnings::Beginnings(const Pool& pool, size_t units, size_t grain, size_t panels) {
  for (unsigned r = 0; pool.ranges() > 1 && r < pool.ranges(); r++) panel_.push_back(panels * pool.first_unit(units, grain, r));
}

void Beginnings::one_after_the_other(Pool& pool, std::initializer_list<const Tensor*> w) const {
  for (unsigned r = 0; r < panel_.size(); r++) {
    size_t p = panel_[r];
    for (const Tensor* t : w) {
      if (p < panels_of(t->rows)) {
        pool.soon(r, t->panel(p), nullptr);
        break;
      }
      p -= panels_of(t->rows);
    }
  }
}

void Beginnings::side_by_side(Pool& pool, const Tensor& first, const Tensor& second) const {
  for (unsigned r = 0; r < panel_.size(); r++) pool.soon(r, first.panel(panel_[r]), second.panel(panel_[r]));
}

}  // namespace nyb
