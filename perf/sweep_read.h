// sweep_read.h - a sweep that was saved with -o json.
#pragma once
#include <string>
#include <string_view>
#include "machine.h"
#include "sweep.h"

namespace nyb {

struct SavedSweep {
  Machine machine;
  Sweep sweep;
};

// Throws Error, one sentence that begins with `where` (of sweep_read: the path), for what is no such JSON, naming the row and the
// member; a row has 1 to 1000 samples, each above 0. Members that are not known are passed over.
SavedSweep sweep_parse(std::string_view text, const std::string& where);
SavedSweep sweep_read(const std::string& path);

}  // namespace nyb
