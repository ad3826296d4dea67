// session.cpp - one conversation.
#include "chat/session.h"
#include <fmt/format.h>
#include <algorithm>
#include <filesystem>
#include <random>
#include <utility>
#include "chat/report.h"
#include "common/app.h"
#include "common/input.h"

namespace nyb {
namespace {

// Short enough to type again.
uint64_t random_seed() { return std::random_device{}(); }

// Positions kept free for a reply when old turns have to go: dropping few at a time would read the prompt again and again.
size_t room(const ChatOptions& o, const Engine& e) { return std::clamp<size_t>(o.max, 1, std::max<size_t>(1, e.ctx() / 8)); }

}  // namespace

Session::Session(Runtime& r, const ChatOptions& o) : r_(r), o_(o), seed_(o.seed ? *o.seed : random_seed()), replier_(r, o, seed_) {
  if (r.tok) conv_.emplace(*r.tok, r.tmpl ? &*r.tmpl : nullptr, r.engine->ctx());
  if (!o.system.empty()) {
    if (!r.tmpl) throw Error(fmt::format("{}, and so it takes no system message; leave out --system", no_template(r)));
    conv_->set_system(o.system);
  }
  if (!o.json) replier_.on_text = [this](std::string_view piece) { show_text(piece); };
}

void Session::show_text(std::string_view piece) {
  mid_line_ = true;
  out_write(piece);
}

void Session::context_note(size_t dropped) {
  if (!dropped || context_said_) return;
  context_said_ = true;
  note(fmt::format("{}(the context of {} tokens is full: the oldest turns are left out from here on)", mid_line_ ? "\n" : "",
                   r_.engine->ctx()));
}

// Runs the prompt, shows the reply and what is to be said of it. false: interrupted.
bool Session::answer(const std::vector<int32_t>& prompt) {
  std::optional<NpyOut> logits;
  if (!o_.logits.empty()) {
    std::error_code ec;  // links are followed, for the output replaces what they lead to
    for (const std::string& read : {r_.model->path, o_.file.value_or("")})
      if (!read.empty() && std::filesystem::equivalent(read, o_.logits, ec))
        throw Error(fmt::format("--logits would replace '{}', which is read; give the output another name", o_.logits));
    logits.emplace(o_.logits, r_.model->shape.vocab);
  }
  replier_.logits = logits ? &*logits : nullptr;
  mid_line_ = false;
  const auto end_line = [this] {
    if (mid_line_) out_write("\n");
    mid_line_ = false;
  };
  try {
    last_ = replier_.run(prompt);
  } catch (const Error&) {
    end_line();
    throw;
  }
  const bool whole = last_.stop != Stop::interrupted;
  mid_line_ = mid_line_ || (whole && !o_.json);  // an empty reply is an empty line
  end_line();
  if (o_.json) out_write(reply_json(r_, o_, last_, seed_));
  if (replier_.odd_logits() && !odd_said_) note("(some of the model's logits are not finite; they are left out)");
  odd_said_ = replier_.odd_logits();
  if (!o_.quiet) note(stats_line(r_, last_, seed_));
  if (o_.fingerprint) err_write(fingerprint_line(r_, last_.fingerprint_hex));
  if (logits && whole) logits->finish();
  return whole;
}

bool Session::ask(std::string_view text) {
  if (!conv_) throw Error(fmt::format("'{}' has no tokenizer: give token ids with --ids in place of text", r_.model->path));
  mid_line_ = false;
  const size_t free = room(o_, *r_.engine);
  Conversation before = *conv_;  // asking may drop old turns, and so may the reply
  const auto restore = [&] { conv_.emplace(std::move(before)); };
  const Prompt prompt = conv_->ask(text, free);
  context_note(prompt.dropped);
  replier_.on_full = [this, free](std::span<const int32_t> so_far) {
    std::optional<Prompt> p = conv_->more_room(so_far, free);
    if (p) context_note(p->dropped);
    return p;
  };
  bool whole = false;
  try {
    if (prompt.ids.empty()) throw Error("the text is empty, and the model has no token to begin with; give some text");
    whole = answer(prompt.ids);
  } catch (...) {
    restore();
    throw;
  }
  // Interrupted before the first token: there is no reply to keep, so the message goes as well.
  if (last_.ids.empty() && !whole) {
    restore();
  } else {
    conv_->reply(last_.ids);
  }
  return whole;
}

bool Session::ask_ids(const std::vector<int32_t>& ids) {
  if (ids.size() > r_.engine->ctx())
    throw Error(fmt::format("the prompt has {} tokens, more than the context of {}", ids.size(), r_.engine->ctx()));
  replier_.on_full = nullptr;
  return answer(ids);
}

// A message or a command that came in at the prompt; what goes wrong is said, and the conversation goes on.
void Session::message(std::string_view line) {
  try {
    if (!ask(line)) {
      if (last_.ids.empty() && stdin_is_terminal()) note("(stopped; the message was not kept)");
      if (stdin_is_terminal()) interrupt_clear();
    }
  } catch (const Error& e) {
    if (!stdin_is_terminal()) throw;
    err_write(fmt::format("chat: {}\n", human_words(e.what())));
  }
}

int Session::loop() {
  const bool talking = stdin_is_terminal();
  if (talking && !o_.quiet) note("/help lists the commands; Ctrl+C stops a reply, Ctrl+D leaves.");
  LineReader in;
  for (std::string line;;) {
    if (talking) err_write("> ");
    const LineReader::Got got = in.next(line);
    if (got != LineReader::Got::line) {
      if (talking) err_write("\n");
      return got == LineReader::Got::end ? 0 : 130;
    }
    if (line.empty()) continue;
    if (line.front() == '/') {
      if (!command(line)) return 0;
    } else {
      message(line);
    }
    if (interrupted()) return 130;  // piped in, or told to end
  }
}

}  // namespace nyb
