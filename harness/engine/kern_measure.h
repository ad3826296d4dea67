// kern_measure.h - which of this CPU's kernel paths is the fastest on a model's own shapes. All give the same bits, so the choice
// may hang on a measurement.
#pragma once
#include <chrono>
#include <span>

#include "kern/cpu.h"
#include "kern/kern.h"
#include "model/model.h"

namespace nyb {

// Times the first feed-forward matrix's first panels, as many as the second cache holds, for one token and for eight, on each path
// in turn, and chooses the path of the least time in all. What one thread gets, from cache: from memory the paths differ less, and
// where they do it is the same one that is ahead. Takes `budget` at most, but for one round; the reason tells by how much the
// others are behind. With one vector path, or none, it is kern_pick's choice.
KernChoice kern_measure(const CpuFeatures& cpu, const Model& m, std::chrono::microseconds budget = std::chrono::milliseconds(25));

// The same of these tables, two at least, which this CPU can run: the first stays unless another is ahead by more than a
// measurement can show.
KernChoice kern_fastest(std::span<const KernTable> tables, const Model& m, std::chrono::microseconds budget);

}  // namespace nyb
