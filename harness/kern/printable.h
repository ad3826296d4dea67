// printable.h - text of unknown origin in a message.
#pragma once
#include <string>
#include <string_view>

namespace nyb {

// The text in one line that a terminal shows and does not obey: control characters, what reorders or breaks a line, and bytes
// that are not UTF-8 become \n, \t or \xNN; all else stays. A second time changes nothing.
std::string printable(std::string_view text);

}  // namespace nyb
