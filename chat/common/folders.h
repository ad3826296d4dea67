// folders.h - where a program keeps what it can make again.
#pragma once
#include <string>

namespace nyb {

// $XDG_CACHE_HOME/nybble, else $HOME/.cache/nybble, with `below` under it; made where it is not there. Throws Error where neither
// variable is an absolute path, or it cannot be made.
std::string cache_folder(const std::string& below = {});

}  // namespace nyb
