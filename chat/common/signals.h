// signals.h - the parts of a program's start that belong to the system: signals and the three standard files.
#pragma once
#include <termios.h>
#include <string_view>

namespace nyb {

// SIGINT, SIGTERM and SIGHUP set the flag of app.h (a blocked read returns); SIGQUIT ends the process without leaving
// unfinished files behind; SIGPIPE and SIGXFSZ are ignored, so that a write says EPIPE or EFBIG.
void signals_install();

// Opens /dev/null in place of a standard file that is closed: the next file opened would get its number, and messages would
// be written into it.
void fds_open();

// Writes all of it, whatever the pipe's size and however many signals arrive. 0, or the errno.
int fd_write(int fd, std::string_view text);

// While a line is edited the terminal is in a state that nobody else can use. terminal_lend() remembers what brings it back:
// `before` and the text `undo` (static) for stderr; terminal_back() does so, and so does a signal that ends the process at once.
void terminal_lend(const termios& before, const char* undo);
void terminal_back();

}  // namespace nyb
