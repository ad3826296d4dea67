// eval_input.cpp - conversations, token ids and text, cut to what runs at once.
#include "chat/eval_input.h"
#include <fmt/format.h>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include "chat/npy.h"
#include "chat/npy_ids.h"
#include "common/app.h"
#include "common/input.h"

namespace nyb {
namespace {

// One line: [{"role": ..., "content": ...}, ...] or {"messages": [...]}.
std::vector<Message> messages_of(const std::string& line, const std::string& where) {
  const auto fail = [&](std::string_view what) { return Error(fmt::format("{}: {}", where, what)); };
  nlohmann::json j = nlohmann::json::parse(line, nullptr, false);
  if (j.is_discarded()) throw fail("this is not JSON; one conversation a line is wanted");
  if (j.is_object() && j.contains("messages")) j = nlohmann::json(j["messages"]);
  if (!j.is_array()) throw fail("a list of messages, or an object with \"messages\", is wanted");
  std::vector<Message> all;
  for (const nlohmann::json& m : j) {
    if (!m.is_object() || !m.contains("role") || !m.contains("content") || !m["role"].is_string() || !m["content"].is_string())
      throw fail("each message wants a \"role\" and a \"content\", both text");
    if (const std::string role = m["role"]; role != "system" && role != "user" && role != "assistant")
      throw fail(fmt::format("the role of a message is \"{}\"; system, user and assistant are known", human_words(role)));
    all.push_back({m["role"], m["content"], {}, {}});
  }
  return all;
}

// A reply and the first end token after it are the model's; all else is given.
Piece conversation_piece(const Runtime& r, std::vector<Message> messages) {
  for (Message& m : messages)
    if (m.role == "assistant") m = reply_message(*r.tok, -1, r.tok->encode(m.content));
  const Told told = r.tmpl->tell(messages, false);
  Piece p;
  bool open = false;  // a reply has begun, and no end token has come
  for (size_t i = 0; i < told.ids.size(); ++i) {
    const bool ends = open && r.tok->is_end(told.ids[i]);
    open = (open || told.sampled[i]) && !ends;
    p.add(std::span(told.ids).subspan(i, 1), (told.sampled[i] || ends) && i > 0);
  }
  return p;
}

std::vector<Piece> conversation_pieces(const Runtime& r, const std::string& text, const std::string& path) {
  if (!r.tmpl) throw Error(fmt::format("{}, so it cannot read conversations; score a text file instead", no_template(r)));
  std::vector<Piece> all;
  size_t number = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const std::string where = fmt::format("'{}', line {}", human_words(path), number);
    std::vector<Message> messages = messages_of(line, where);
    Piece p;
    try {
      p = conversation_piece(r, std::move(messages));
    } catch (const Error& e) { throw Error(fmt::format("{}: {}", where, human_words(e.what()))); }
    if (p.ids.size() > r.engine->ctx())
      throw Error(
          fmt::format("{}: the conversation has {} tokens, more than the context of {}", where, p.ids.size(), r.engine->ctx()));
    all.push_back(std::move(p));
  }
  return all;
}

// Windows of the context's size, each begun with BOS where the model wants one and the ids do not have it there already.
std::vector<Piece> windows(const Runtime& r, std::span<const int32_t> ids) {
  const std::optional<int32_t> bos = r.tok && r.tok->add_bos() ? r.tok->bos() : std::nullopt;
  const size_t ctx = r.engine->ctx();
  if (bos && ctx < 2) throw Error(fmt::format("a context of {} is too short to score a text; give a larger --ctx", ctx));
  std::vector<Piece> all;
  while (!ids.empty()) {
    Piece p;
    if (bos && ids[0] != *bos) p.add(std::span(&*bos, 1), false);
    const size_t n = std::min(ctx - p.ids.size(), ids.size());
    p.add(ids.first(n), true);
    p.scored[0] = false;
    all.push_back(std::move(p));
    ids = ids.subspan(n);
  }
  return all;
}

}  // namespace

void Piece::add(std::span<const int32_t> more, bool score) {
  ids.insert(ids.end(), more.begin(), more.end());
  scored.insert(scored.end(), more.size(), score);
}

std::vector<Piece> eval_pieces(const Runtime& r, const std::string& path) {
  const std::string all = read_whole(path);
  if (path.ends_with(".npy") || all.starts_with(kNpyMagic))
    return windows(r, npy_ids(all, fmt::format("'{}'", human_words(path)), r.model->shape.vocab));
  if (!r.tok) throw Error(fmt::format("'{}' has no tokenizer, so it cannot score a text; give token ids in a .npy file", r.named));
  if (path.ends_with(".jsonl")) return conversation_pieces(r, all, path);
  return windows(r, r.tok->encode(all));
}

}  // namespace nyb
