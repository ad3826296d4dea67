// commands.cpp - the commands at the prompt.
#include <fmt/format.h>
#include <iterator>
#include "chat/report.h"
#include "chat/session.h"
#include "common/app.h"

namespace nyb {
namespace {

constexpr std::string_view kHelp =
    "/help          this list\n"
    "/reset         forget the conversation; the system message stays\n"
    "/system TEXT   set the system message; without TEXT there is none\n"
    "/quit          leave\n"
    "Any other line is a message. To begin a message with '/', put a space before it.\n";

}  // namespace

bool Session::command(std::string_view line) {
  const size_t space = line.find(' ');
  const std::string_view word = line.substr(0, space);
  const std::string_view rest = space == std::string_view::npos ? std::string_view() : line.substr(space + 1);
  if (word == "/quit") return false;
  if (word == "/help") {
    err_write(kHelp);
  } else if (word == "/reset") {
    if (conv_) conv_->reset();
    context_said_ = false;
    note("(the conversation begins anew)");
  } else if (word == "/system") {
    if (!conv_ || !r_.tmpl) {
      note("(this model runs without a chat template, and so without a system message)");
    } else {
      conv_->set_system(std::string(rest));
      note(rest.empty() ? "(there is no system message now)" : "(the system message is set)");
    }
  } else {
    note(fmt::format("unknown command '{}'; /help lists the commands", human_words(word)));
  }
  return true;
}

}  // namespace nyb
