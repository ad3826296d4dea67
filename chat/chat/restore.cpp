// restore.cpp - a session's conversation to and from records.
#include <fmt/format.h>
#include <algorithm>
#include <utility>
#include "chat/report.h"
#include "chat/session.h"
#include "common/app.h"

namespace nyb {
namespace {

void check_ids(const std::vector<int32_t>& ids, uint32_t vocab) {
  const auto bad = std::find_if(ids.begin(), ids.end(), [&](int32_t id) { return static_cast<uint32_t>(id) >= vocab; });
  if (bad != ids.end())
    throw Error(fmt::format("the saved conversation has token {}, but the model has only {} of them", *bad, vocab));
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

// Brings a conversation to where it was after the event, computing nothing. same_ids: the ids are this model's, and so are the
// places where old turns went; else the reply's text becomes ids anew.
void Session::apply(Conversation& c, const Event& e, bool same_ids) const {
  if (e.kind == Event::Kind::system) return c.set_system(e.text);
  if (e.kind == Event::Kind::undo) return void(c.take_back());
  if (!e.prompt.empty())
    throw Error("the saved conversation has prompts of token ids, which cannot go on as text; --replay can run it");
  check_ids(e.ids, same_ids ? r_.model->shape.vocab : UINT32_MAX);
  const size_t free = room_for_reply(e.settings, *r_.engine);
  c.ask(e.text, free);
  if (!same_ids) return c.reply(r_.tok->encode(e.reply));
  for (const uint32_t n : e.rereads) c.more_room(std::span(e.ids).first(n), free);
  c.reply(e.ids);
}

// Why this session cannot give the record's answers again; empty: it can.
std::string Session::difference(const Record& rec) const {
  if (rec.checksum != record_.checksum)
    return fmt::format("it was saved with another model file, {} of checksum {}; this one has {}", human_words(rec.name),
                       hex16(rec.checksum), hex16(record_.checksum));
  if (rec.kv != record_.kv)
    return fmt::format("it was saved with a cache of {}; this one is {}", kv_name(rec.kv), kv_name(record_.kv));
  if (rec.raw != record_.raw) return fmt::format("it was saved {} --raw", rec.raw ? "with" : "without");
  if (rec.changed) return "the file was changed after it was saved";
  return "";
}

std::string Session::load(const std::string& path) {
  Record rec = record_read(path);
  std::string why = difference(rec);
  const bool same_ids = rec.checksum == record_.checksum && rec.raw == record_.raw;
  talk();
  Conversation c(*r_.tok, r_.tmpl ? &*r_.tmpl : nullptr, r_.engine->ctx());
  size_t rereads = 0;
  for (Event& e : rec.events) {
    apply(c, e, same_ids);
    rereads += e.rereads.size();
  }
  if (why.empty() && rec.ctx != record_.ctx && (c.dropped() > 0 || rereads > 0))
    why = fmt::format("its oldest turns were left out for a context of {}; this one is {}", rec.ctx, record_.ctx);
  if (!why.empty())  // what was answered elsewhere is taken as it is
    for (Event& e : rec.events) {
      if (e.kind == Event::Kind::message) e.kind = Event::Kind::given;
      if (!same_ids) e.ids = r_.tok->encode(e.reply);
    }
  conv_.emplace(std::move(c));
  record_.events = std::move(rec.events);
  context_said_ = false;
  return why.empty() ? why : fmt::format("(the conversation goes on, but not to the same fingerprint: {})", why);
}

void Session::save(const std::string& path) const {
  record_check(path);
  record_write(path, record_);
}

void Session::repeat(const Event& e) {
  if (e.kind != Event::Kind::message) return apply(talk(), e, true);
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
