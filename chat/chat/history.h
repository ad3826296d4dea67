// history.h - the messages typed before, kept in a file of the user's own.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nyb {

// Where it is kept: $XDG_STATE_HOME/nybble/history, else ~/.local/state/nybble/history; nullopt where neither is known.
std::optional<std::string> history_place();

// Whether a message is for the history: not an empty one, not one that begins with a space, not /quit, none over 64 KiB.
bool history_takes(std::string_view entry);

// A line of the file is an entry, the newest last; a newline within it is written \n, a backslash \\. Several programs may add
// to it at once. Errors are Error, one sentence that names the file.
class History {
 public:
  static constexpr size_t kMost = 1000;

  explicit History(std::string path) : path_(std::move(path)) {}
  std::vector<std::string> read() const;  // the newest kMost, oldest first; none where there is no file
  // Appended, or the file replaced as a whole where the oldest entries have to go. The file is the user's alone (0600).
  void add(std::string_view entry) const;

 private:
  std::string path_;
};

}  // namespace nyb
