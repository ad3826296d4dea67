// line_editor.h - the editor of lines, around libedit: that edits and draws; characters, signals, pastes and history are ours.
#pragma once
#include <histedit.h>
#include <termios.h>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>
#include "chat/history.h"
#include "chat/messages.h"
#include "chat/waking.h"
#include "kern/error.h"

namespace nyb {

// No character is typed as this (typed.h): where the editor reads it, pasted text goes in.
constexpr wchar_t kPasteKey = 0x9d;

class Editor : public Lines {
 public:
  Editor(CommandWords words, bool keep_history);
  bool good() const { return good_; }  // else nothing of it may be used
  Got next(std::string& line, bool within) override;
  void remember(std::string_view entry) override;

 private:
  struct Closer {
    void operator()(FILE* f) const { (void)std::fclose(f); }
    void operator()(EditLine* e) const {
      el_set(e, EL_EDITMODE, 0);  // else it would throw away what was typed ahead
      el_end(e);
    }
    void operator()(HistoryW* h) const { history_wend(h); }
  };

  static Editor& of(EditLine* el) {
    void* self = nullptr;
    el_get(el, EL_CLIENTDATA, &self);
    return *static_cast<Editor*>(self);
  }
  void open_tty();
  void bind_keys();
  void open_history();
  void history_failed(const Error& e);
  void bind_history();
  void enter(std::wstring entry);
  void show_entry(size_t i);
  unsigned char up();
  unsigned char down();
  int key(wchar_t* c);
  bool paste_at_front();
  bool marked_paste();
  bool lines_at_front();
  bool fill();
  bool fill_within(int ms);
  void begin_editing();
  void end_editing();
  void suspend();
  void resume();
  void redraw_resized();
  void go_below();
  int columns() const;
  void put(const char* text) { (void)std::fputs(text, out_.get()); }
  std::wstring_view line(bool to_cursor) const;
  unsigned char insert_paste();
  unsigned char insert_newline();
  unsigned char complete_here();

  CommandWords words_;
  std::unique_ptr<FILE, Closer> out_, nowhere_;
  std::unique_ptr<HistoryW, Closer> searched_;  // the entries for the search (Ctrl+R)
  std::unique_ptr<EditLine, Closer> el_;
  std::optional<History> file_;
  std::optional<Waking> waking_;
  termios before_{};
  std::string keys_;  // read, and not yet given to the editor
  std::vector<std::wstring> entries_;
  size_t entry_ = 0;     // the one shown; entries_.size(): none, but what is being typed
  std::wstring draft_;   // what was being typed
  std::wstring pasted_;  // goes in at kPasteKey
  std::exception_ptr failure_;
  const wchar_t* prompt_ = L"";
  bool good_ = false, marks_pastes_ = false, within_ = false, ended_ = false;
  bool typed_ahead_ = false;   // the first bytes of this line were there before it began
  bool settled_ = false;       // nothing comes together with keys_ any more
  bool after_escape_ = false;  // within a key of several bytes, such as Alt+Enter
};

}  // namespace nyb
