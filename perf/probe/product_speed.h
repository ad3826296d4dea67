// product_speed.h - how fast products go through weights in memory: what decode gets of what reading gives.
#pragma once
#include <cstddef>
#include "engine/pool.h"
#include "kern/kern.h"
#include "model/tensor.h"

namespace nyb {

// GB/s of weights of this type, by products with one vector of 4,096 columns, in the engine's pieces and the faster order of
// reading: the median of some rounds through `bytes` of random weights in pages of 4 KiB. Throws Error where there is not so much
// memory; Interrupted.
double product_speed(TType type, const KernTable& kern, Pool& pool, size_t bytes);

}  // namespace nyb
