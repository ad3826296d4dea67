// editor_actions.cpp - what the keys do that libedit has no command for.
#include <algorithm>
#include <utility>
#include "chat/line_editor.h"
#include "chat/typed.h"

namespace nyb {

void Editor::show_entry(size_t i) {
  if (entry_ == entries_.size()) draft_ = line(false);
  entry_ = i;
  const std::wstring& text = i == entries_.size() ? draft_ : entries_[i];
  const auto length = static_cast<int>(line(false).size());
  el_cursor(el_.get(), length);
  el_deletestr(el_.get(), length);
  if (!text.empty()) el_winsertstr(el_.get(), text.c_str());
}

// Within a message of several lines the arrows move in it, beyond its ends in the history.
unsigned char Editor::up() {
  const std::wstring_view before = line(true);
  const size_t start = before.rfind(L'\n');
  if (start != std::wstring_view::npos) {
    const size_t previous = start == 0 ? std::wstring_view::npos : before.rfind(L'\n', start - 1);
    const size_t from = previous == std::wstring_view::npos ? 0 : previous + 1;
    const size_t column = before.size() - start - 1;
    el_cursor(el_.get(), static_cast<int>(from + std::min(column, start - from)) - static_cast<int>(before.size()));
    return CC_CURSOR;
  }
  if (entry_ == 0) return CC_ERROR;
  show_entry(entry_ - 1);
  return CC_REFRESH;
}

unsigned char Editor::down() {
  const std::wstring_view all = line(false), before = line(true);
  const size_t end = all.find(L'\n', before.size());
  if (end != std::wstring_view::npos) {
    const size_t start = before.rfind(L'\n');
    const size_t column = start == std::wstring_view::npos ? before.size() : before.size() - start - 1;
    const size_t next_end = std::min(all.find(L'\n', end + 1), all.size());
    el_cursor(el_.get(), static_cast<int>(std::min(end + 1 + column, next_end)) - static_cast<int>(before.size()));
    return CC_CURSOR;
  }
  if (entry_ == entries_.size()) return CC_ERROR;
  show_entry(entry_ + 1);
  return CC_REFRESH;
}

unsigned char Editor::insert_paste() {
  const std::wstring text = std::exchange(pasted_, {});
  if (!text.empty()) el_winsertstr(el_.get(), text.c_str());
  return CC_REFRESH;
}

unsigned char Editor::insert_newline() {
  el_winsertstr(el_.get(), L"\n");
  return CC_REFRESH;
}

// In a message, Tab is a tab.
unsigned char Editor::complete_here() {
  try {
    const std::string before = typed_bytes(line(true));
    if (within_ || !before.starts_with('/')) {
      el_winsertstr(el_.get(), L"\t");
      return CC_REFRESH;
    }
    const Completion c = complete(words_, before);
    if (!c.insert.empty()) {
      el_winsertstr(el_.get(), typed_wide(c.insert).c_str());
      return CC_REFRESH;
    }
    if (c.choices.empty()) return CC_ERROR;
    go_below();
    put(("\n" + choice_table(c.choices, columns())).c_str());
    el_set(el_.get(), EL_REFRESH);
    return CC_NORM;
  } catch (...) {
    failure_ = std::current_exception();
    return CC_EOF;
  }
}

}  // namespace nyb
