// kern_measure.h - which of this CPU's kernel paths is the fastest on a model's own types and shapes. All give the same bits, so
// the choice may hang on a measurement.
#pragma once
#include <span>

#include "engine/seconds.h"
#include "kern/cpu.h"
#include "kern/kern.h"
#include "model/model.h"

namespace nyb {

// Seconds that the rounds may take together; the round that has begun is ended.
inline constexpr double kMeasureBudget = 0.008;

// Times, of each type that a token's matrices have, a slice of the largest one, for one token and for eight, on each path in turn,
// and chooses the path of the least time in all, a type counting by how many bytes a token reads of it. That is one thread's speed
// from cache, which decides how fast a prompt is read. From memory one token's products wait for the weights on every path: there
// the paths lie within about a tenth, and the one that is behind here is often ahead. The reason tells by how much the others are
// behind from cache. With one vector path, or none, it is kern_pick's choice.
KernChoice kern_measure(const CpuFeatures& cpu, const Model& m);

// The same of these tables, two at least, which this CPU can run: the first stays unless another is ahead by more than a
// measurement can show. One path takes all products: none are mixed.
KernChoice kern_fastest(std::span<const KernTable> tables, const Model& m, double budget, const Seconds& clock = seconds_now);

}  // namespace nyb
