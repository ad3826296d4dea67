// look.cpp - one look at a name, and what to say when it leads nowhere.
#include "model/look.h"

#include "kern/error.h"

namespace nyb {
namespace fs = std::filesystem;

fs::file_type file_look(const std::string& path) {
  std::error_code ec;
  const fs::file_type type = fs::status(path, ec).type();
  if (type == fs::file_type::none) throw Error(path + ": cannot look at it: " + ec.message());
  // a link to nothing is a part that got lost, not one that was never there
  if (std::error_code none; type == fs::file_type::not_found && fs::is_symlink(path, none))
    throw Error(path + ": this symbolic link leads nowhere");
  return type;
}

}  // namespace nyb
