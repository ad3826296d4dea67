// replay.h - runs a recorded conversation again and compares it to the last bit.
#pragma once
#include "chat/record.h"
#include "chat/runtime.h"

namespace nyb {

// The options under which a record can be run again: its cache, its context, its kind of prompt, and its model where `o` names
// none.
void replay_options(const Record& rec, ChatOptions& o);

// Says "identical" on stdout and returns 0; or names the first position that differs, or says what else does, and returns 1.
// Throws Error for a record of another model file; Interrupted.
int replay_run(Runtime& r, ChatOptions& o, const Record& rec);

}  // namespace nyb
