// weights_probe.h - what memory gives to a pass that only reads a model's own weights: the ceiling of its decode.
#pragma once
#include "engine/pool.h"
#include "model/model.h"

namespace nyb {

// GB/s at which the pool's threads read, and do nothing else with, the weights that a token reads (bytes_per_token of
// engine/engine.h) where they lie; the best of a few passes by the widest read loops of this CPU, one stream and several, which
// take as long as so many tokens. Weights that a cache holds are read from it, as they are by the engine. 0: the model is too small
// to measure.
double weights_read_speed(const Model& model, Pool& pool);

}  // namespace nyb
