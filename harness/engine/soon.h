// soon.h - where the threads of a pool begin in a product, for Pool::soon: threads that wait ask the memory for it.
#pragma once
#include <cstddef>
#include <initializer_list>
#include <vector>

#include "engine/pool.h"
#include "model/tensor.h"

namespace nyb {

// Of one stage, the same for all layers. Decides no bit, only what is in the caches when the stage begins.
class Beginnings {
 public:
  // Of a par_for over `units` units of `panels` panels each, in pieces of `grain` units.
  Beginnings(const Pool& pool, size_t units, size_t grain, size_t panels);
  // Tells the pool that, after the job that comes, matrices are read whose panels are counted through, one after the other ...
  void one_after_the_other(Pool& pool, std::initializer_list<const Tensor*> w) const;
  // ... or two at the same panels, first and then second.
  void side_by_side(Pool& pool, const Tensor& first, const Tensor& second) const;

 private:
  std::vector<size_t> panel_;  // of each range of the pool; none: nobody waits
};

}  // namespace nyb
