// replay.cpp - event by event; replies are computed, not read.
#include "chat/replay.h"
#include <fmt/format.h>
#include <algorithm>
#include <nlohmann/json.hpp>
#include "chat/report.h"
#include "chat/session.h"
#include "common/app.h"

namespace nyb {
namespace {

struct Outcome {
  size_t replies = 0, given = 0, tokens = 0;
  std::string difference;  // empty: none
};

std::string id_text(const Runtime& r, int32_t id) {
  return r.tok ? fmt::format("{} \"{}\"", id, human_words(r.tok->name(id))) : fmt::format("{}", id);
}

// Where a reply differs from the record; empty: nowhere.
std::string compare(const Runtime& r, const Event& want, const Reply& is, size_t reply) {
  const size_t n = std::min(want.ids.size(), is.ids.size());
  for (size_t i = 0; i < n; ++i) {
    const auto at = [&] { return fmt::format("position {} (token {} of reply {})", is.prompt_tokens - 1 + i, i + 1, reply); };
    if (want.rows[i] != is.rows[i])
      return fmt::format("the logits of {} have the hash {} here, {} in the record{}", at(), hex16(is.rows[i]), hex16(want.rows[i]),
                         want.ids[i] == is.ids[i] ? ""
                                                  : fmt::format("; the token is {} here, {} in the record", id_text(r, is.ids[i]),
                                                                id_text(r, want.ids[i])));
    if (want.ids[i] != is.ids[i])
      return fmt::format("{} is token {} here, {} in the record, of the same logits", at(), id_text(r, is.ids[i]),
                         id_text(r, want.ids[i]));
  }
  if (want.ids.size() != is.ids.size())
    return fmt::format("reply {} has {} tokens here, {} in the record", reply, is.ids.size(), want.ids.size());
  if (want.stop != is.stop)
    return fmt::format("reply {} ends by {} here, by {} in the record", reply, stop_name(is.stop), stop_name(want.stop));
  if (want.reply != is.text) return fmt::format("the text of reply {} is another in the record, of the same tokens", reply);
  if (want.fingerprint != is.fingerprint_hex)
    return fmt::format("reply {} has the fingerprint {} here, {} in the record", reply, is.fingerprint_hex,
                       human_words(want.fingerprint));
  return "";
}

Outcome run_events(Session& s, const Record& rec) {
  Outcome all;
  for (const Event& e : rec.events) {
    s.repeat(e);
    if (interrupted()) throw Interrupted{};
    all.given += e.kind == Event::Kind::given;
    if (e.kind != Event::Kind::message) continue;
    ++all.replies;
    all.tokens += s.last().ids.size();
    all.difference = compare(s.runtime(), e, s.last(), all.replies);
    if (!all.difference.empty()) return all;
  }
  if (rec.changed) all.difference = "the file was changed after it was written: its hash is not that of its bytes";
  return all;
}

std::string plural(size_t n, const char* singular, const char* several) {
  return fmt::format("{} {}", n, n == 1 ? singular : several);
}

}  // namespace

void replay_options(const Record& rec, ChatOptions& o) {
  if (o.model.empty()) o.model = rec.model;
  o.kv = rec.kv;
  o.ctx = rec.ctx;
  o.raw = rec.raw;
  if (!rec.date.empty()) o.tmpl.date = date_parse(rec.date);
  o.tmpl.variables = rec.variables;
}

int replay_run(Runtime& r, ChatOptions& o, const Record& rec) {
  if (rec.checksum != r.model->checksum)
    throw Error(fmt::format(
        "'{}' is of a model file of checksum {} ({}), and '{}' has {}: the answers cannot be compared; name the other file",
        o.replay, hex16(rec.checksum), rec.name, r.named, hex16(r.model->checksum)));
  Session session(r, o);
  const Outcome all = run_events(session, rec);
  if (o.json) {
    nlohmann::ordered_json j;
    j["identical"] = all.difference.empty();
    j["replies"] = all.replies;
    j["not_computed"] = all.given;
    j["tokens"] = all.tokens;
    j["difference"] = all.difference;
    j["kernel"] = path_name(r.kern.table.path);
    j["threads"] = r.threads.count;
    out_write(j.dump() + "\n");
  } else if (all.difference.empty()) {
    const std::string given =
        all.given ? fmt::format("; {} from elsewhere, not compared", plural(all.given, "reply", "replies")) : "";
    out_write(fmt::format("identical: {}, {}, to the last bit{}; recorded on {} with {}, run on {} with {}\n",
                          plural(all.replies, "reply", "replies"), plural(all.tokens, "token", "tokens"), given,
                          human_words(rec.kernel), plural(rec.threads, "thread", "threads"), path_name(r.kern.table.path),
                          plural(r.threads.count, "thread", "threads")));
  }
  if (all.difference.empty()) return 0;
  say(fmt::format("'{}' differs: {}", o.replay, all.difference));
  return 1;
}

}  // namespace nyb
