// signals.h - the parts of a program's start that belong to the system: signals and the three standard files.
#pragma once
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

}  // namespace nyb
