// editor.cpp - how the editor begins, a line of it, and its history.
#include "chat/editor.h"
#include <fcntl.h>
#include <fmt/format.h>
#include <langinfo.h>
#include <unistd.h>
#include <clocale>
#include <cstdlib>
#include <cstring>
#include <cwchar>
#include <utility>
#include "chat/line_editor.h"
#include "chat/report.h"
#include "chat/typed.h"
#include "common/app.h"
#include "common/input.h"
#include "common/signals.h"

namespace nyb {
namespace {

constexpr const char* kPasteOn = "\033[?2004h";   // the terminal marks what is pasted ...
constexpr const char* kPasteOff = "\033[?2004l";  // ... or not

// What an editor of characters must be told in: UTF-8. Nothing else of the locale is touched.
bool set_utf8() {
  for (const char* name : {"C.UTF-8", "C.utf8", "", "en_US.UTF-8"})
    if (std::setlocale(LC_CTYPE, name) && std::strcmp(nl_langinfo(CODESET), "UTF-8") == 0) return true;
  std::setlocale(LC_CTYPE, "C");
  return false;
}

}  // namespace

Editor::Editor(CommandWords words, bool keep_history) : words_(std::move(words)) {
  if (!set_utf8() || tcgetattr(0, &before_) != 0) return;
  out_.reset(fdopen(fcntl(2, F_DUPFD_CLOEXEC, 3), "w"));
  nowhere_.reset(std::fopen("/dev/null", "we"));
  if (!out_ || !nowhere_) return;
  open_tty();
  tcsetattr(0, TCSADRAIN, &before_);  // the start of libedit has changed it
  if (good_ && keep_history) open_history();
}

void Editor::open_tty() {
  el_.reset(el_init("chat", stdin, out_.get(), nowhere_.get()));
  searched_.reset(history_winit());
  if (!el_ || !searched_) return;
  // Without these the line cannot be drawn over. A terminal that is not known has neither.
  char *clear = nullptr, *up = nullptr;
  el_get(el_.get(), EL_GETTC, "ce", &clear);
  el_get(el_.get(), EL_GETTC, "up", &up);
  if (!clear || !up) return;
  marks_pastes_ = std::strncmp(up, "\033[", 2) == 0;  // it takes sequences of this form
  el_set(el_.get(), EL_CLIENTDATA, this);
  el_set(el_.get(), EL_SIGNAL, 0);
  el_set(el_.get(), EL_EDITOR, "emacs");  // some builds begin as vi; ~/.editrc may say so too
  el_wset(
      el_.get(), EL_GETCFN, +[](EditLine* e, wchar_t* c) { return of(e).key(c); });
  el_wset(
      el_.get(), EL_PROMPT, +[](EditLine* e) { return const_cast<wchar_t*>(of(e).prompt_); });
  HistEventW event;
  history_w(searched_.get(), &event, H_SETSIZE, static_cast<int>(History::kMost));
  el_wset(el_.get(), EL_HIST, history_w, searched_.get());
  bind_keys();
  int editing = 0;
  el_get(el_.get(), EL_EDITMODE, &editing);
  good_ = editing != 0;
}

void Editor::bind_keys() {
  EditLine* e = el_.get();
  const auto bind = [e](const wchar_t* key, const wchar_t* what) { el_wset(e, EL_BIND, key, what, nullptr); };
  el_wset(
      e, EL_ADDFN, L"nybble-paste", L"Insert what was pasted", +[](EditLine* el, wint_t) { return of(el).insert_paste(); });
  el_wset(
      e, EL_ADDFN, L"nybble-newline", L"Insert a newline", +[](EditLine* el, wint_t) { return of(el).insert_newline(); });
  el_wset(
      e, EL_ADDFN, L"nybble-complete", L"Complete a command or a file",
      +[](EditLine* el, wint_t) { return of(el).complete_here(); });
  bind(L"^R", L"em-inc-search-prev");
  for (const wchar_t* key : {L"\\e^M", L"\\e^J"}) bind(key, L"nybble-newline");  // Alt+Enter
  // What terminals send beside what terminfo says of them: Home, End, Delete, and Ctrl or Alt with an arrow.
  for (const wchar_t* key : {L"\\e[H", L"\\eOH", L"\\e[1~", L"\\e[7~"}) bind(key, L"ed-move-to-beg");
  for (const wchar_t* key : {L"\\e[F", L"\\eOF", L"\\e[4~", L"\\e[8~"}) bind(key, L"ed-move-to-end");
  bind(L"\\e[3~", L"ed-delete-next-char");
  for (const wchar_t* key : {L"\\e[1;5D", L"\\e[1;3D", L"\\e[5D"}) bind(key, L"ed-prev-word");
  for (const wchar_t* key : {L"\\e[1;5C", L"\\e[1;3C", L"\\e[5C"}) bind(key, L"em-next-word");
  el_source(e, nullptr);  // ~/.editrc, as of every program with libedit
  bind_history();
  bind(L"^I", L"nybble-complete");
  const wchar_t paste[] = {kPasteKey, 0};
  bind(paste, L"nybble-paste");
  el_wset(e, EL_BIND, L"-a", paste, L"nybble-paste", nullptr);
}

// In place of libedit's own way through the history, which cuts the line that was begun after 1024 characters.
void Editor::bind_history() {
  EditLine* e = el_.get();
  const wchar_t* mode = nullptr;
  el_wget(e, EL_EDITOR, &mode);
  const bool vi = mode && std::wcscmp(mode, L"vi") == 0;
  el_wset(
      e, EL_ADDFN, L"nybble-up", L"Line above, or entry before", +[](EditLine* el, wint_t) { return of(el).up(); });
  el_wset(
      e, EL_ADDFN, L"nybble-down", L"Line below, or next entry", +[](EditLine* el, wint_t) { return of(el).down(); });
  const auto bind = [&](const wchar_t* key, const wchar_t* what) {
    if (vi)
      el_wset(e, EL_BIND, L"-a", key, what, nullptr);
    else
      el_wset(e, EL_BIND, key, what, nullptr);
  };
  // As vi, Escape alone is a key, and what follows it is looked up among the commands.
  for (const wchar_t* key : {vi ? L"k" : L"^P", vi ? L"[A" : L"\\e[A", vi ? L"OA" : L"\\eOA"}) bind(key, L"nybble-up");
  for (const wchar_t* key : {vi ? L"j" : L"^N", vi ? L"[B" : L"\\e[B", vi ? L"OB" : L"\\eOB"}) bind(key, L"nybble-down");
}

void Editor::open_history() {
  const std::optional<std::string> place = history_place();
  if (!place) return;
  file_.emplace(*place);
  try {
    for (const std::string& entry : file_->read()) enter(typed_wide(entry));
  } catch (const Error& e) { history_failed(e); }
}

void Editor::history_failed(const Error& e) {
  note(fmt::format("({})", human_words(e.what())));
  file_.reset();
}

void Editor::enter(std::wstring entry) {
  if (!entries_.empty() && entries_.back() == entry) return;
  HistEventW event;
  history_w(searched_.get(), &event, H_ENTER, entry.c_str());
  entries_.push_back(std::move(entry));
}

void Editor::remember(std::string_view entry) {
  if (!history_takes(entry)) return;
  enter(typed_wide(entry));
  try {
    if (file_) file_->add(entry);
  } catch (const Error& e) { history_failed(e); }
}

Lines::Got Editor::next(std::string& text, bool within) {
  if (tcgetattr(0, &before_) != 0) return interrupted() ? Got::interrupted : Got::end;  // the terminal is gone
  within_ = within;
  const std::string_view words = within ? kPromptWithin : kPrompt;
  const std::wstring prompt(words.begin(), words.end());
  prompt_ = prompt.c_str();
  failure_ = nullptr;
  entry_ = entries_.size();
  waking_.emplace();
  begin_editing();
  el_set(el_.get(), EL_PREP_TERM, 1);  // before the prompt is there: who sees it finds the line ready
  typed_ahead_ = wait_readable(0, 0);
  int count = 0;
  const wchar_t* got = el_wgets(el_.get(), &count);
  if (got) text = typed_bytes(std::wstring_view(got, static_cast<size_t>(count)));
  const bool held = !got && !line(false).empty();
  end_editing();
  waking_.reset();
  if (got) {
    while (text.ends_with('\n')) text.pop_back();
    return Got::line;
  }
  if (failure_) std::rethrow_exception(failure_);
  if (!interrupted()) return Got::end;
  keys_.clear();
  if (held) interrupt_clear();
  if (interrupted()) return Got::interrupted;
  err_write("\n");
  return Got::taken_back;
}

void Editor::begin_editing() {
  terminal_lend(before_, marks_pastes_ ? kPasteOff : "");
  if (marks_pastes_) put(kPasteOn);
}

void Editor::end_editing() {
  (void)std::fflush(out_.get());
  terminal_back();
}

std::unique_ptr<Lines> editor_open(const CommandWords& words, bool keep_history) {
  if (!stdin_is_terminal() || !stderr_is_terminal()) return nullptr;
  const char* term = std::getenv("TERM");
  if (!term || !*term || std::strcmp(term, "dumb") == 0) return nullptr;
  auto editor = std::make_unique<Editor>(words, keep_history);
  if (!editor->good()) return nullptr;
  return editor;
}

}  // namespace nyb
