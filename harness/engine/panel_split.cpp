// panel_split.cpp - panels' addresses.
#include "engine/panel_split.h"

namespace nyb {

PanelSplit::PanelSplit(Pool& pool, size_t panels, size_t together)
    : pool_(pool), panels_(panels), grain_(panel_grain(pool, panels, together)) {
  for (unsigned r = 0; pool.ranges() > 1 && r < pool.ranges(); r++) begins_.push_back(pool.first_unit(panels, grain_, r));
}

void PanelSplit::soon_one_after_the_other(std::initializer_list<const Tensor*> w) const {
  for (unsigned r = 0; r < begins_.size(); r++) {
    size_t p = begins_[r];
    for (const Tensor* t : w) {
      if (p < panels_of(t->rows)) {
        pool_.soon(r, t->panel(p), nullptr);
        break;
      }
      p -= panels_of(t->rows);
    }
  }
}

void PanelSplit::soon_side_by_side(const Tensor& first, const Tensor& second) const {
  for (unsigned r = 0; r < begins_.size(); r++) pool_.soon(r, first.panel(begins_[r]), second.panel(begins_[r]));
}

}  // namespace nyb
