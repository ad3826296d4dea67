// eval.cpp - loss over a file. The loss is for reading: the logits are exact, its logarithm is the C library's.
#include "chat/eval.h"
#include <fmt/format.h>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include "chat/reply.h"
#include "chat/report.h"
#include "common/app.h"
#include "common/input.h"
#include "engine/fingerprint.h"

namespace nyb {
namespace {

// Ids that run together, and which of them are scored (never the first).
struct Piece {
  std::vector<int32_t> ids;
  std::vector<bool> scored;
  void add(const std::vector<int32_t>& more, bool score) {
    ids.insert(ids.end(), more.begin(), more.end());
    scored.insert(scored.end(), more.size(), score);
  }
};

struct Totals {
  double loss = 0;
  uint64_t targets = 0, tokens = 0;
  double seconds = 0;
  Fingerprint print;
};

double loss_of(std::span<const float> logits, int32_t target) {
  const double top = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float l : logits) sum += std::exp(static_cast<double>(l) - top);
  return top + std::log(sum) - logits[static_cast<size_t>(target)];
}

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
    all.push_back({m["role"], m["content"]});
  }
  return all;
}

Piece conversation_piece(const Runtime& r, const std::vector<Message>& messages) {
  Piece p;
  p.add(r.tmpl->start(), false);
  for (const Message& m : messages) {
    const std::vector<int32_t> ids = r.tmpl->message(m);
    if (m.role != "assistant") {
      p.add(ids, false);
      continue;
    }
    // The frame before the reply is given, the reply and the first end token after it are the model's, the rest is frame.
    const size_t from = std::min(r.tmpl->reply_prompt().size(), ids.size());
    size_t to = from;
    while (to < ids.size() && !r.tok->is_end(ids[to])) ++to;
    to = std::min(to + 1, ids.size());
    for (size_t i = 0; i < ids.size(); ++i) p.add({ids[i]}, i >= from && i < to && !p.ids.empty());
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
    Piece p = conversation_piece(r, messages_of(line, where));
    if (p.ids.size() > r.engine->ctx())
      throw Error(
          fmt::format("{}: the conversation has {} tokens, more than the context of {}", where, p.ids.size(), r.engine->ctx()));
    all.push_back(std::move(p));
  }
  return all;
}

std::vector<Piece> text_pieces(const Runtime& r, const std::string& text) {
  const std::vector<int32_t> ids = r.tok->encode(text);
  const std::vector<int32_t> bos = r.tok->add_bos() && r.tok->bos() ? std::vector<int32_t>{*r.tok->bos()} : std::vector<int32_t>{};
  const size_t ctx = r.engine->ctx();
  if (ctx <= bos.size()) throw Error(fmt::format("a context of {} is too short to score a text; give a larger --ctx", ctx));
  std::vector<Piece> all;
  for (size_t at = 0; at < ids.size();) {
    const size_t n = std::min(ctx - bos.size(), ids.size() - at);
    Piece p;
    p.add(bos, false);
    p.add({ids.begin() + static_cast<std::ptrdiff_t>(at), ids.begin() + static_cast<std::ptrdiff_t>(at + n)}, true);
    p.scored[0] = false;
    all.push_back(std::move(p));
    at += n;
  }
  return all;
}

void score(Runtime& r, const ChatOptions& o, const Piece& p, Totals& t) {
  size_t at = 0;
  step_rows(*r.engine, p.ids, 0, o.chunk, [&](std::span<const float> row) {
    t.print.add(row);
    ++at;  // this row predicts the token at `at`
    if (at >= p.ids.size() || !p.scored[at]) return;
    t.loss += loss_of(row, p.ids[at]);
    ++t.targets;
  });
  t.tokens += p.ids.size();
}

void print(const Runtime& r, const ChatOptions& o, const Totals& t) {
  const double loss = t.loss / static_cast<double>(t.targets);
  const double speed = t.seconds > 0 ? static_cast<double>(t.tokens) / t.seconds : 0;
  if (!o.json) {
    out_write(fmt::format("loss {:.6f}; perplexity {:.5f}; {} targets of {} tokens; {:.1f} tok/s\n", loss, std::exp(loss),
                          t.targets, t.tokens, speed));
    if (o.fingerprint) err_write(fingerprint_line(r, t.print.hex()));
    return;
  }
  nlohmann::ordered_json j;
  j["eval"] = o.eval;
  j["loss"] = loss;
  j["perplexity"] = std::exp(loss);
  j["targets"] = t.targets;
  j["tokens"] = t.tokens;
  j["seconds"] = t.seconds;
  j["tokens_per_second"] = speed;
  j["fingerprint"] = t.print.hex();
  json_describe(j, r);
  out_write(j.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

}  // namespace

int eval_run(Runtime& r, const ChatOptions& o) {
  if (!r.tok) throw Error(fmt::format("'{}' has no tokenizer, so it cannot score a text", r.model->path));
  const std::string text = read_whole(o.eval);
  const std::vector<Piece> pieces = o.eval.ends_with(".jsonl") ? conversation_pieces(r, text, o.eval) : text_pieces(r, text);
  Totals t;
  const auto start = std::chrono::steady_clock::now();
  {
    Progress bar("scoring", pieces.size(), !o.quiet);
    for (size_t i = 0; i < pieces.size(); ++i) {
      if (!pieces[i].ids.empty()) score(r, o, pieces[i], t);
      bar.at(i + 1);
    }
  }
  t.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!t.targets) throw Error(fmt::format("'{}' has no token to score", human_words(o.eval)));
  print(r, o, t);
  return 0;
}

}  // namespace nyb
