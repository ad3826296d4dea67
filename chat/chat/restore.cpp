// restore.cpp - a session's conversation to and from records.
#include <fmt/format.h>
#include <algorithm>
#include <utility>
#include "chat/report.h"
#include "chat/session.h"
#include "common/app.h"

namespace nyb {
namespace {

// In place of replies that another file, cache or context gave: what was said, and nothing that depends on where.
void make_given(std::vector<Event>& events, const Tokenizer* other) {
  for (Event& e : events) {
    if (e.kind == Event::Kind::system || e.kind == Event::Kind::undo) continue;
    Event plain;
    plain.kind = Event::Kind::given;
    plain.text = std::move(e.text);
    plain.prompt = std::move(e.prompt);
    plain.ids = other ? other->encode(e.reply) : std::move(e.ids);
    plain.reply = std::move(e.reply);
    e = std::move(plain);
  }
}

void check_ids(const std::vector<int32_t>& ids, uint32_t vocab) {
  const auto bad = std::find_if(ids.begin(), ids.end(), [&](int32_t id) { return static_cast<uint32_t>(id) >= vocab; });
  if (bad != ids.end()) throw Error(fmt::format("it has token {}, but the model has only {} of them", *bad, vocab));
}

}  // namespace

Event event_of(const Reply& reply, const Settings& settings, const Rng::State& before) {
  Event e;
  e.kind = Event::Kind::message;
  e.reply = reply.text;
  e.ids = reply.ids;
  e.settings = settings;
  e.rng = before;
  e.stop = reply.stop;
  e.rows = reply.rows;
  e.rereads = reply.rereads;
  e.fingerprint = reply.fingerprint_hex;
  return e;
}

// Brings a conversation to where it was after the event, computing nothing.
void Session::apply(Conversation& c, const Event& e) const {
  if (e.kind == Event::Kind::system) return c.set_system(e.text);
  if (e.kind == Event::Kind::undo) return void(c.take_back());
  if (!e.prompt.empty()) throw Error("it has prompts of token ids, which cannot go on as text; --replay can run it");
  check_ids(e.ids, r_.model->shape.vocab);
  const size_t free = room_for_reply(e.settings, c.ctx());
  c.ask(e.text, free);
  for (const uint32_t n : e.rereads) c.more_room(std::span(e.ids).first(n), free);
  c.reply(spoken(e.ids, e.stop));
}

Conversation Session::rebuilt(const std::vector<Event>& events, uint32_t ctx) const {
  Conversation c(*r_.tok, r_.tmpl ? &*r_.tmpl : nullptr, ctx);
  for (const Event& e : events) apply(c, e);
  return c;
}

// Why this session cannot give the record's answers again; empty: it can.
std::string Session::difference(const Record& rec) const {
  if (rec.checksum != record_.checksum)
    return fmt::format("it was saved with another model file, {} of checksum {}; this one has {}", human_words(rec.name),
                       hex16(rec.checksum), hex16(record_.checksum));
  if (rec.kv != record_.kv)
    return fmt::format("it was saved with a cache of {}; this one is {}", kv_name(rec.kv), kv_name(record_.kv));
  if (rec.date != record_.date) return fmt::format("it was saved with the date {}", rec.date.empty() ? "left out" : rec.date);
  if (rec.variables != record_.variables) return "it was saved with other variables of the chat template";
  if (rec.raw != record_.raw) return fmt::format("it was saved {} --raw", rec.raw ? "with" : "without");
  if (rec.changed) return "the file was changed after it was saved";
  return "";
}

// The same of a record that is this model's in all but its context: whether some turn went for want of room, there or here.
std::string Session::context_difference(const Record& rec) const {
  if (rec.ctx == record_.ctx) return "";
  const bool full = std::any_of(rec.events.begin(), rec.events.end(),
                                [](const Event& e) { return e.stop == Stop::context || !e.rereads.empty(); });
  if (!full && rebuilt(rec.events, rec.ctx).dropped() == 0 && rebuilt(rec.events, record_.ctx).dropped() == 0) return "";
  return fmt::format("it does not fit into both contexts whole, the {} it was saved with and the {} here", rec.ctx, record_.ctx);
}

std::string Session::load(const std::string& path) {
  Record rec = record_read(path);
  talk();
  std::string why;
  try {
    why = difference(rec);
    if (why.empty()) why = context_difference(rec);
    const bool same_ids = rec.checksum == record_.checksum && rec.raw == record_.raw;
    if (!why.empty()) make_given(rec.events, same_ids ? nullptr : r_.tok.get());
    conv_.emplace(rebuilt(rec.events, record_.ctx));
  } catch (const Error& e) { throw Error(fmt::format("'{}' cannot be loaded: {}", path, e.what())); }
  record_.events = std::move(rec.events);
  context_said_ = false;
  save_again();
  return why.empty() ? why : fmt::format("(the conversation goes on, but not to the same fingerprint: {})", why);
}

void Session::save(const std::string& path) const {
  record_check(path);
  record_write(path, record_);
}

void Session::repeat(const Event& e) {
  if (e.kind != Event::Kind::message) return apply(talk(), e);
  o_.set = e.settings;
  replier_.set_rng(Rng(e.rng));
  replier_.stop_after = e.stop == Stop::interrupted ? std::optional<size_t>(e.ids.size()) : std::nullopt;
  silent_ = true;
  if (e.prompt.empty()) {
    ask(e.text);
  } else {
    check_ids(e.prompt, r_.model->shape.vocab);
    ask_ids(e.prompt);
  }
}

}  // namespace nyb
