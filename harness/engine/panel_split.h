// panel_split.h - how a stage's panels are dealt to the threads of a pool, and so where each of them begins (Pool::soon): threads
// that wait ask the memory for it.
#pragma once
#include <cstddef>
#include <initializer_list>
#include <utility>
#include <vector>

#include "engine/pool.h"
#include "model/tensor.h"

namespace nyb {

// Of one stage of products, the same for all layers. Decides no bit, only who computes what, and what is in the caches by then.
class PanelSplit {
 public:
  // together: KernTable::panels_together
  PanelSplit(Pool& pool, size_t panels, size_t together);
  // f(begin, end, thread) over pieces of [0, panels), each a multiple of `together` but for the last, as par_for has it.
  template <class F>
  void run(F&& f) const {
    par_for(pool_, panels_, grain_, std::forward<F>(f));
  }
  // Tells the pool that, after the job that comes, run() goes through matrices whose panels are counted one after the other ...
  void soon_one_after_the_other(std::initializer_list<const Tensor*> w) const;
  // ... or through the same panels of two, first and then second.
  void soon_side_by_side(const Tensor& first, const Tensor& second) const;

 private:
  Pool& pool_;
  size_t panels_, grain_;
  std::vector<size_t> begins_;  // the first panel of each range of the pool; none: nobody waits
};

}  // namespace nyb
