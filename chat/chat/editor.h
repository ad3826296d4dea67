// editor.h - lines with editing, history and completion, at a terminal that can.
#pragma once
#include <memory>
#include "chat/messages.h"

namespace nyb {

// nullptr where there is no editing: standard input or error is no terminal, $TERM is unset, unknown or of a terminal that cannot
// move its cursor, or there is no UTF-8 on this system. The prompt and all that is typed go to standard error. Sets LC_CTYPE, and
// nothing else of the locale. However the program ends, but by a fault of its own or SIGKILL, the terminal is as it was. One at a
// time.
std::unique_ptr<Lines> editor_open(const CommandWords& words, bool keep_history);

}  // namespace nyb
