// session.cpp - one conversation.
#include "chat/session.h"
#include <fmt/format.h>
#include <algorithm>
#include <filesystem>
#include <random>
#include <utility>
#include "chat/commands.h"
#include "chat/memory.h"
#include "chat/messages.h"
#include "chat/report.h"
#include "common/app.h"
#include "common/input.h"
#include "probe/weights_probe.h"

namespace nyb {
namespace {

// Short enough to type again.
uint64_t random_seed() { return std::random_device{}(); }

// What the newest message that was not taken back is; the number of events where there is none.
size_t newest(const std::vector<Event>& events) {
  size_t undone = 0;
  for (size_t i = events.size(); i-- > 0;) {
    const Event::Kind kind = events[i].kind;
    if (kind == Event::Kind::undo) ++undone;
    if (kind != Event::Kind::message && kind != Event::Kind::given) continue;
    if (undone == 0) return i;
    --undone;
  }
  return events.size();
}

}  // namespace

size_t room_for_reply(const Settings& s, size_t ctx) { return std::clamp<size_t>(s.max, 1, std::max<size_t>(1, ctx / 8)); }

// What of a reply the conversation goes on with: a special token that was named to end it is no part of it. (A stop text is: the
// model has said it.)
std::span<const int32_t> Session::spoken(std::span<const int32_t> ids, Stop stop) const {
  return stop == Stop::text && !ids.empty() && r_.tok->is_special(ids.back()) ? ids.first(ids.size() - 1) : ids;
}

Session::Session(Runtime& r, ChatOptions& o)
    : r_(r), o_(o), seed_(o.set.seed ? *o.set.seed : random_seed()), replier_(r, o, seed_) {
  if (r.tok) conv_.emplace(*r.tok, r.tmpl ? &*r.tmpl : nullptr, r.engine->ctx());
  record_.model = is_built_in(o) ? "" : std::filesystem::absolute(r.named).string();
  record_.name = r.model->name;
  record_.checksum = r.model->checksum;
  record_.kv = r.engine->kv();
  record_.ctx = r.engine->ctx();
  record_.raw = o.raw;
  if (r.tmpl && r.tmpl->tells_date()) record_.date = date_text(o.tmpl.date);
  if (r.tmpl) record_.variables = o.tmpl.variables;
  record_.kernel = path_name(r.kern.table.path);
  record_.threads = r.threads.count;
  silent_ = true;  // nothing was said yet: a file that is there stays as it is
  if (!o.load.empty())
    if (const std::string why = load(o.load); !why.empty() && !o.quiet) note(why);
  if (!o.system.empty()) {
    if (!r.tmpl) throw Error(fmt::format("{}, and so it takes no system message; leave out --system", no_template(r)));
    set_system(o.system);
  }
  silent_ = false;
  if (!o.save.empty()) record_check(o.save);
  if (!o.json) replier_.on_text = [this](std::string_view piece) { show_text(piece); };
}

Conversation& Session::talk() {
  if (!conv_) throw Error(fmt::format("'{}' has no tokenizer: give token ids with --ids in place of text", r_.named));
  return *conv_;
}

void Session::show_text(std::string_view piece) {
  if (silent_) return;
  mid_line_ = true;
  out_write(piece);
}

void Session::context_note(size_t dropped) {
  if (!dropped || context_said_ || silent_) return;
  context_said_ = true;
  note(fmt::format("{}(the context of {} tokens is full: the oldest turns are left out from here on)", mid_line_ ? "\n" : "",
                   r_.engine->ctx()));
}

// Runs the prompt; the reply is shown as it comes, and is in last_.
void Session::compute(const std::vector<int32_t>& prompt) {
  std::optional<NpyOut> logits;
  if (!o_.logits.empty()) {
    std::error_code ec;  // links are followed, for the output replaces what they lead to
    for (const std::string& read : {r_.model->path, r_.named, o_.file.value_or(""), o_.load, std::string("/proc/self/fd/0")})
      if (!read.empty() && std::filesystem::equivalent(read, o_.logits, ec))
        throw Error(fmt::format("--logits would replace '{}', which is read; give the output another name", o_.logits));
    logits.emplace(o_.logits, r_.model->shape.vocab);
  }
  replier_.logits = logits ? &*logits : nullptr;
  mid_line_ = false;
  before_ = replier_.rng().state();
  try {
    last_ = replier_.run(prompt);
  } catch (const Error&) {
    if (mid_line_) out_write("\n");
    mid_line_ = false;
    throw;
  }
  tell();
  if (logits && last_.stop != Stop::interrupted) logits->finish();
}

// What is to be said of a reply after it.
void Session::tell() {
  if (silent_) return;
  mid_line_ = mid_line_ || (last_.stop != Stop::interrupted && !o_.json);  // an empty reply is an empty line
  if (mid_line_) out_write("\n");
  mid_line_ = false;
  const bool line = !o_.quiet || o_.stats;
  if ((o_.json || line) && r_.read_gbs == 0 && last_.steps > 0) r_.read_gbs = weights_read_speed(*r_.model, *r_.pool);
  if (o_.json) out_write(reply_json(r_, o_, last_, seed_));
  if (replier_.odd_logits() && !odd_said_) note("(some of the model's logits are not finite; they are left out)");
  odd_said_ = replier_.odd_logits();
  if (line) note(stats_line(r_, last_, seed_));
  if (o_.stats) note(usage_lines(r_));
  if (o_.fingerprint) err_write(fingerprint_line(r_, last_.fingerprint_hex));
}

// One message and its reply in the conversation, or neither. false: neither, since it was interrupted before the first token.
bool Session::turn(std::string_view text) {
  Conversation& c = talk();
  mid_line_ = false;
  const size_t free = room_for_reply(o_.set, c.ctx());
  Conversation before = c;  // asking may drop old turns, and so may the reply
  Reply last_before = last_;
  const Prompt prompt = c.ask(text, free);
  context_note(prompt.dropped);
  replier_.on_full = [this, &c, free](std::span<const int32_t> so_far) {
    std::optional<Prompt> p = c.more_room(so_far, free);
    if (p) context_note(p->dropped);
    return p;
  };
  try {
    if (prompt.ids.empty()) throw Error("the text is empty, and the model has no token to begin with; give some text");
    compute(prompt.ids);
  } catch (...) {
    conv_.emplace(std::move(before));
    throw;
  }
  if (last_.ids.empty() && last_.stop == Stop::interrupted) {
    conv_.emplace(std::move(before));
    last_ = std::move(last_before);
    lost_ = true;
    return false;
  }
  c.reply(spoken(last_.ids, last_.stop));
  return true;
}

void Session::keep(Event e) {
  record_.events.push_back(std::move(e));
  save_again();
}

void Session::save_again() const {
  if (!o_.save.empty() && !silent_) save(o_.save);
}

bool Session::ask(std::string_view text) {
  if (!turn(text)) return false;
  Event e = event_of(last_, o_.set, before_);
  e.text = text;
  keep(std::move(e));
  return last_.stop != Stop::interrupted;
}

bool Session::ask_ids(const std::vector<int32_t>& ids) {
  if (ids.size() > r_.engine->ctx())
    throw Error(fmt::format("the prompt has {} tokens, more than the context of {}", ids.size(), r_.engine->ctx()));
  replier_.on_full = nullptr;
  compute(ids);
  if (!last_.ids.empty() || last_.stop != Stop::interrupted) {
    Event e = event_of(last_, o_.set, before_);
    e.prompt = ids;
    keep(std::move(e));
  }
  return last_.stop != Stop::interrupted;
}

bool Session::ask_again() {
  Conversation before = talk();
  std::vector<Event> events = record_.events;
  const std::optional<std::string> text = forget_newest();
  if (!text) throw Error("there is no message to answer again");
  const auto restore = [&] {
    conv_.emplace(std::move(before));
    record_.events = std::move(events);
  };
  try {
    lost_ = false;
    const bool whole = ask(*text);
    if (lost_) restore();
    lost_ = false;
    return whole;
  } catch (...) {
    restore();
    throw;
  }
}

void Session::set_system(const std::string& text) {
  talk().set_system(text);
  Event e;
  e.kind = Event::Kind::system;
  e.text = text;
  std::vector<Event>& events = record_.events;
  if (!events.empty() && events.back().kind == Event::Kind::system) events.pop_back();
  events.push_back(std::move(e));
  save_again();
}

std::optional<std::string> Session::take_back() {
  if (!conv_) return std::nullopt;
  Conversation before = *conv_;
  std::vector<Event> events = record_.events;
  std::optional<std::string> text = forget_newest();
  try {
    if (text) save_again();
  } catch (...) {
    conv_.emplace(std::move(before));
    record_.events = std::move(events);
    throw;
  }
  return text;
}

std::optional<std::string> Session::forget_newest() {
  std::vector<Event>& events = record_.events;
  const size_t at = newest(events);
  if (!conv_ || at == events.size() || !conv_->take_back()) return std::nullopt;
  std::string text = events[at].text;
  if (conv_->dropped() == 0) {  // all is as if it had never been said
    events.erase(events.begin() + static_cast<std::ptrdiff_t>(at));
  } else {
    Event e;
    e.kind = Event::Kind::undo;
    events.push_back(std::move(e));
  }
  return text;
}

void Session::reset() {
  if (!conv_) return;
  conv_->reset();
  context_said_ = false;
  record_.events.clear();
  if (!conv_->system().empty()) set_system(conv_->system());
  save_again();
}

void Session::reseed(uint64_t seed) {
  seed_ = seed;
  replier_.set_rng(Rng(seed));
}

// A message or a command that came in at the prompt; what goes wrong is said, and the conversation goes on.
bool Session::obey(const TypedMessage& m) {
  bool stay = true;
  lost_ = false;
  try {
    if (m.command)
      stay = command_run(*this, m.text);
    else
      ask(m.text);
  } catch (const Error& e) {
    if (!stdin_is_terminal()) throw;
    say(e.what());
  } catch (const Interrupted&) {  // while a file was read
    if (!stdin_is_terminal()) throw;
    note("(stopped)");
  }
  if (interrupted() && stdin_is_terminal()) {
    if (lost_) note("(stopped; the message was not kept)");
    interrupt_clear();
  }
  return stay;
}

int Session::loop() {
  const bool talking = stdin_is_terminal();
  if (talking && !o_.quiet) note("/help lists the commands; Ctrl+C stops a reply, Ctrl+D leaves.");
  MessageReader in(lines_open(o_, command_words()));
  for (TypedMessage m;;) {
    const MessageReader::Got got = in.next(m);
    if (got != MessageReader::Got::message) {
      if (talking) err_write("\n");
      return got == MessageReader::Got::end ? 0 : 130;
    }
    if (!obey(m)) return 0;
    if (interrupted()) return 130;  // piped in, or told to end
  }
}

}  // namespace nyb
