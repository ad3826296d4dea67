// temporaries.h - the unfinished files of this process, for handlers that end it without unwinding.
#pragma once
#include <string>

namespace nyb {

// Remembers `path` until temporary_forget. Returns what that takes; nullptr where there is no room: then the file is only
// removed by its owner. Any thread.
void* temporary_remember(const std::string& path);
void temporary_forget(void* slot);

// Removes every file that is remembered. Safe in a signal handler; for a process that is about to end.
void temporaries_unlink() noexcept;

}  // namespace nyb
