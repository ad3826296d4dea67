// messages.cpp - messages of one line and of several.
#include "chat/messages.h"
#include <fmt/format.h>
#include <algorithm>
#include <utility>
#include <vector>
#include "chat/editor.h"
#include "chat/report.h"
#include "common/app.h"
#include "common/input.h"

namespace nyb {
namespace {

constexpr std::string_view kQuotes = "\"\"\"";

// The line without the quotes that end it (blanks may follow them); false: it has none.
bool take_end(std::string_view& line) {
  const size_t last = line.find_last_not_of(" \t\r");
  const std::string_view s = line.substr(0, last == std::string_view::npos ? 0 : last + 1);
  if (!s.ends_with(kQuotes)) return false;
  line = s.substr(0, s.size() - kQuotes.size());
  return true;
}

class PlainLines : public Lines {
 public:
  Got next(std::string& line, bool within) override {
    if (stdin_is_terminal()) err_write(within ? kPromptWithin : kPrompt);
    switch (in_.next(line, !within)) {
      case LineReader::Got::line: return Got::line;
      case LineReader::Got::end: return Got::end;
      case LineReader::Got::interrupted: break;
    }
    return Got::interrupted;
  }

 private:
  LineReader in_;
};

}  // namespace

std::unique_ptr<Lines> lines_open(const ChatOptions& o, const CommandWords& words) {
  if (!o.no_edit)
    if (std::unique_ptr<Lines> editor = editor_open(words, !o.no_history)) return editor;
  return std::make_unique<PlainLines>();
}

// `typed` begins with the quotes.
MessageReader::Long MessageReader::long_message(std::string typed, std::string& text) {
  std::vector<std::string> lines;
  bool opening = true;
  for (size_t at = kQuotes.size();;) {
    while (at <= typed.size()) {
      const size_t end = std::min(typed.find('\n', at), typed.size());
      std::string_view line = std::string_view(typed).substr(at, end - at);
      const bool closed = take_end(line);
      // where nothing else is on the line of the quotes, it is no line of the message
      if (!line.empty() || !(opening || closed)) lines.emplace_back(line);
      if (closed) {
        left_ = typed.substr(std::min(end + 1, typed.size()));
        typed.resize(end);
        lines_->remember(typed);
        text = fmt::format("{}", fmt::join(lines, "\n"));
        return Long::whole;
      }
      opening = false;
      at = end + 1;
    }
    std::string more;
    switch (lines_->next(more, true)) {
      case Lines::Got::line: typed += '\n' + more; break;
      case Lines::Got::end:
        note("(the input ended within the long message; it is taken as it is)");
        text = fmt::format("{}", fmt::join(lines, "\n"));
        return Long::whole;
      case Lines::Got::taken_back: return Long::taken_back;
      case Lines::Got::interrupted:
        if (stdin_is_terminal()) interrupt_clear();
        if (interrupted()) return Long::interrupted;
        err_write("\n");
        return Long::taken_back;
    }
  }
}

MessageReader::Got MessageReader::next(TypedMessage& m) {
  for (;;) {
    std::string line = std::exchange(left_, {});
    if (line.empty()) {
      switch (lines_->next(line, false)) {
        case Lines::Got::line: break;
        case Lines::Got::end: return Got::end;
        case Lines::Got::interrupted: return Got::interrupted;
        case Lines::Got::taken_back: continue;
      }
    }
    m.command = false;
    if (line.starts_with(kQuotes)) {
      switch (long_message(std::move(line), m.text)) {
        case Long::whole: break;
        case Long::taken_back: continue;
        case Long::interrupted: return Got::interrupted;
      }
    } else {
      lines_->remember(line);
      m.command = line.starts_with('/');
      m.text = std::move(line);
    }
    if (!m.text.empty()) return Got::message;
  }
}

}  // namespace nyb
