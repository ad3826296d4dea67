// look.h - whether a file is there, told apart from one that cannot be looked at.
#pragma once
#include <filesystem>
#include <string>

namespace nyb {

// What `path` leads to; file_type::not_found where nothing has that name. Throws Error for a symbolic link to nothing, and where
// the system refuses to say (no permission for a folder on the way, links in a circle).
std::filesystem::file_type file_look(const std::string& path);

// file_look for what may be missing. Throws as it does.
inline bool file_there(const std::string& path) { return file_look(path) != std::filesystem::file_type::not_found; }

}  // namespace nyb
