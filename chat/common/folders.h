// folders.h - where a program keeps its files in the home folder.
#pragma once
#include <optional>
#include <string>

namespace nyb {

// The folder nybble in that which the variable names, else in the folder `below_home` of $HOME. nullopt where neither variable is
// an absolute path (as the XDG base directories want it, specification 0.8).
std::optional<std::string> xdg_folder(const char* variable, const char* below_home);

// $XDG_CACHE_HOME/nybble, else $HOME/.cache/nybble, with `below` under it; made where it is not there. Throws Error where neither
// variable is an absolute path, or it cannot be made.
std::string cache_folder(const std::string& below = {});

}  // namespace nyb
