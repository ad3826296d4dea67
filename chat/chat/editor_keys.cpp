// editor_keys.cpp - what the editor reads: keys, pastes, and the signals that come between them.
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include "chat/line_editor.h"
#include "chat/typed.h"
#include "common/app.h"
#include "common/input.h"

namespace nyb {
namespace {

constexpr std::string_view kPasteBegin = "\033[200~", kPasteEnd = "\033[201~";
constexpr int kSplitMs = 100;  // the bytes of one key come closer together

}  // namespace

// The next key for the editor: 1; 0 at the end of input; -1 when interrupted. No exception may pass through libedit.
int Editor::key(wchar_t* c) {
  try {
    while (!interrupted()) {
      if (!keys_.empty()) {
        if (!after_escape_ && paste_at_front()) {
          *c = kPasteKey;
          return 1;
        }
        if (interrupted()) break;
        size_t n = typed_front(keys_, *c);
        if (n == 0 && ended_) {
          *c = kByte + static_cast<unsigned char>(keys_[0]);
          n = 1;
        }
        keys_.erase(0, n);
        after_escape_ = n != 0 && *c == L'\033';
        if (n != 0) return 1;
      }
      if (ended_) return 0;
      fill();
    }
    put("^C");
    go_below();
  } catch (...) { failure_ = std::current_exception(); }
  return -1;
}

bool Editor::paste_at_front() { return marked_paste() || lines_at_front(); }

bool Editor::marked_paste() {
  const auto begins = [this] { return std::string_view(keys_).starts_with(kPasteBegin); };
  while (keys_.size() < kPasteBegin.size() && kPasteBegin.starts_with(keys_))
    if (!fill_within(kSplitMs)) return false;  // the Escape key itself, or the beginning of another
  if (!begins()) return false;
  size_t end = 0;
  while ((end = keys_.find(kPasteEnd, end)) == std::string::npos) {
    end = std::max(keys_.size(), kPasteEnd.size()) - kPasteEnd.size();
    if (!fill()) break;
  }
  if (interrupted()) return false;
  const std::string_view text = std::string_view(keys_).substr(0, end).substr(kPasteBegin.size());
  pasted_ = typed_wide(typed_newlines(text));
  keys_.erase(0, ended_ ? keys_.size() : end + kPasteEnd.size());
  return true;
}

// Lines that were there together are one message, save a command.
bool Editor::lines_at_front() {
  const std::wstring_view before = line(false);
  if (!within_ && (before.empty() ? keys_[0] == '/' : before[0] == L'/')) return false;
  if (keys_.find_first_of("\r\n") == std::string::npos) return false;
  while (!settled_) settled_ = !fill_within(kPasteMs);
  const size_t n = typed_lines(keys_);
  if (n == 0) return false;
  pasted_ = typed_wide(typed_newlines(std::string_view(keys_).substr(0, n)));
  keys_.erase(0, n);
  return true;
}

// Reads what there is, and answers the signals that come before it. false: interrupted, or the input has ended.
bool Editor::fill() {
  while (!interrupted() && !ended_) {
    if (Waking::stop())
      suspend();
    else if (Waking::resumed())
      resume();
    else if (Waking::resized())
      redraw_resized();
    else if (wait_readable(0, -1, Waking::any)) {
      char part[4096];
      const ssize_t n = read(0, part, sizeof part);
      if (n > 0) {
        // Ctrl+D that was typed while nobody edited: the terminal kept it as an end, and gives a NUL for it now.
        if (std::exchange(typed_ahead_, false)) std::replace(part, part + n, '\0', '\x04');
        keys_.append(part, static_cast<size_t>(n));
        settled_ = false;
        return true;
      }
      if (n == 0 || errno == EIO)
        ended_ = true;  // EIO: the terminal is gone
      else if (errno != EINTR && errno != EAGAIN)
        throw Error(fmt::format("cannot read standard input: {}", std::strerror(errno)));
    }
  }
  return false;
}

bool Editor::fill_within(int ms) { return !ended_ && wait_readable(0, ms, Waking::any) && fill(); }

void Editor::suspend() {
  go_below();
  el_set(el_.get(), EL_PREP_TERM, 0);
  end_editing();
  waking_->stop_here();
  if (!interrupted()) resume();
}

void Editor::resume() {
  begin_editing();
  el_set(el_.get(), EL_PREP_TERM, 1);
  el_resize(el_.get());
  el_set(el_.get(), EL_REFRESH);
}

// Terminals wrap what they show anew, so the first row of the line is where it would be at this width.
void Editor::redraw_resized() {
  put("\r");
  for (int rows = typed_rows(line(true), 2, columns()); rows > 0; --rows) el_set(el_.get(), EL_ECHOTC, "up", nullptr);
  el_set(el_.get(), EL_ECHOTC, "cd", nullptr);
  el_resize(el_.get());
  el_set(el_.get(), EL_REFRESH);
}

// From the cursor to the row below all that was typed.
void Editor::go_below() {
  const int rows = typed_rows(line(false), 2, columns()) - typed_rows(line(true), 2, columns());
  for (int i = 0; i < rows; ++i) put("\n");
  (void)std::fflush(out_.get());
}

int Editor::columns() const {
  winsize size{};
  return ioctl(0, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col : 80;
}

std::wstring_view Editor::line(bool to_cursor) const {
  const LineInfoW* l = el_wline(el_.get());
  return {l->buffer, static_cast<size_t>((to_cursor ? l->cursor : l->lastchar) - l->buffer)};
}

}  // namespace nyb
