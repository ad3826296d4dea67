// reply.cpp - one reply.
#include "chat/reply.h"
#include <fmt/format.h>
#include <algorithm>
#include <chrono>
#include <map>
#include "common/app.h"
#include "engine/fingerprint.h"
#include "text/utf8.h"

namespace nyb {
namespace {

using Clock = std::chrono::steady_clock;
double since(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }

constexpr size_t kRowsBytes = size_t{64} << 20;  // of logits held at once where all are wanted
constexpr size_t kPiece = 64;                    // prompt tokens between two looks of the progress bar

// Stop texts that name a special token, which has no text of its own, are compared by id, the others by what is shown.
using StopTokens = std::map<int32_t, std::string>;
struct StopTexts {
  StopTokens tokens;
  std::vector<std::string> texts;
};

StopTexts stop_texts(const Runtime& r, const std::vector<std::string>& stops) {
  StopTexts s;
  if (!stops.empty() && !r.tok)
    throw Error(fmt::format("'{}' has no tokenizer, so no text can end a reply; leave out --stop", r.named));
  for (const std::string& text : stops) {
    const std::vector<int32_t> ids = r.tok->encode_with_specials(text);
    if (ids.size() == 1 && r.tok->is_special(ids[0]))
      s.tokens.emplace(ids[0], text);
    else
      s.texts.push_back(text);
  }
  return s;
}

}  // namespace

std::string_view stop_name(Stop s) {
  switch (s) {
    case Stop::end: return "end";
    case Stop::text: return "stop";
    case Stop::max: return "max";
    case Stop::context: return "context";
    case Stop::interrupted: return "interrupted";
  }
  return "";
}

void step_rows(Engine& e, std::span<const int32_t> ids, uint32_t pos, uint32_t chunk,
               const std::function<void(std::span<const float>)>& row) {
  const size_t vocab = e.model().shape.vocab;
  const size_t most = std::max<size_t>(1, std::min<size_t>(chunk, kRowsBytes / (vocab * sizeof(float))));
  std::vector<float> rows(std::min(most, ids.size()) * vocab);
  while (!ids.empty()) {
    const size_t n = std::min(most, ids.size());
    eng_step(e, ids.first(n), pos, std::span(rows).first(n * vocab));
    for (size_t i = 0; i < n; ++i) row(std::span(rows).subspan(i * vocab, vocab));
    ids = ids.subspan(n);
    pos += static_cast<uint32_t>(n);
  }
}

// What one reply keeps while it runs.
struct Replier::Run {
  Reply reply;
  Fingerprint print;
  StopTokens stop_tokens;
  StopMatch stop;
  Utf8Stream utf8;
  int32_t before = -1;         // the id that the next one follows
  std::vector<int32_t> ahead;  // guesses whose logits are in rows_
  size_t right = 0;            // of them, so far
  explicit Run(StopTexts&& s) : stop_tokens(std::move(s.tokens)), stop(std::move(s.texts)) {}
};

Replier::Replier(Runtime& r, const ChatOptions& o, uint64_t seed)
    : r_(r), o_(o), sampler_(o.set.samp, seed), drafter_(o.speculate == Speculate::on), rows_(r.model->shape.vocab), row_(rows_) {}

// Cuts the cache back to what it shares with `ids`, of which at least one is left to run. Returns how many it kept.
uint32_t Replier::keep_shared(const std::vector<int32_t>& ids) {
  cached_.resize(logits ? 0 : std::min(common_prefix(cached_, ids), ids.size() - 1));  // every position is wanted, or the last
  return static_cast<uint32_t>(cached_.size());
}

// Brings the cache, cut back before, to `ids`, and the last position's logits into row_.
void Replier::read_prompt(Run& run, const std::vector<int32_t>& ids) {
  Engine& e = *r_.engine;
  size_t pos = cached_.size();
  const std::span<const int32_t> all(ids);
  if (logits) {
    step_rows(e, all, 0, o_.chunk, [&](std::span<const float> row) {
      logits->add(row);
      run.print.add(row);
      std::copy(row.begin(), row.end(), row_.begin());
    });
    cached_ = ids;
    return;
  }
  Progress bar("reading the prompt", ids.size() - pos, !o_.quiet);
  const size_t piece = std::max<size_t>(kPiece, o_.chunk);
  const size_t first = pos;
  while (pos < ids.size()) {
    const size_t n = std::min(piece, ids.size() - pos);
    const bool last = pos + n == ids.size();
    eng_step(e, all.subspan(pos, n), static_cast<uint32_t>(pos), last ? row_ : std::span<float>());
    cached_.insert(cached_.end(), ids.begin() + static_cast<std::ptrdiff_t>(pos),
                   ids.begin() + static_cast<std::ptrdiff_t>(pos + n));
    pos += n;
    bar.at(pos - first);
  }
}

// The conversation without its oldest turns, in the middle of a reply: counted apart from the prompt and from the reply.
void Replier::read_again(Run& run, const std::vector<int32_t>& ids) {
  Reply& rep = run.reply;
  const Clock::time_point start = Clock::now();
  settle(run, run.right);
  rep.reread_tokens += static_cast<uint32_t>(ids.size()) - keep_shared(ids);
  try {
    read_prompt(run, ids);
  } catch (...) {
    rep.reread_seconds += since(start);
    throw;
  }
  rep.reread_seconds += since(start);
}

// false: a stop text ended the reply.
bool Replier::show(Run& run, int32_t id) {
  std::string piece;
  if (r_.tok) {
    piece = run.utf8.push(run.stop.push(r_.tok->bytes_after(run.before, id)));
  } else {
    piece = fmt::format("{}{}", run.reply.ids.size() > 1 ? "," : "", id);
  }
  run.before = id;
  run.reply.text += piece;
  if (on_text && !piece.empty()) on_text(piece);
  return !run.stop.matched();
}

// What is told of the position that the next id comes from.
void Replier::record(Run& run, int32_t id) const {
  Reply& rep = run.reply;
  rep.rows.push_back(fingerprint_of(row_));
  if (o_.logprobs == 0) return;
  std::vector<LogProb> all = top_logprobs(row_, o_.logprobs);
  all.insert(all.begin(), logprob_of(row_, id));
  rep.probs.push_back(std::move(all));
}

// Counts the first `tried` guesses of the last pass: a reply that ends, or goes on from an older turn, leaves the others unchecked.
void Replier::settle(Run& run, size_t tried) {
  if (tried > 0) drafter_.scored(tried, run.right);
  run.reply.guessed += static_cast<uint32_t>(tried);
  run.ahead.clear();
  run.right = 0;
}

// One pass over the weights for `id` and for what is guessed to follow it, whose logits are the same as they would be one by one.
void Replier::step_ahead(Run& run, int32_t id) {
  Engine& e = *r_.engine;
  const size_t vocab = r_.model->shape.vocab, pos = cached_.size();
  if (!logits && o_.speculate != Speculate::off) {
    cached_.push_back(id);          // while the guess looks at it
    const size_t chunk = o_.chunk;  // of more the engine makes several passes
    run.ahead = drafter_.guess(cached_, std::min({e.ctx() - pos - 1, o_.set.max - run.reply.ids.size() - 1, chunk - 1}));
    cached_.pop_back();
  }
  std::vector<int32_t> ids{id};
  ids.insert(ids.end(), run.ahead.begin(), run.ahead.end());
  rows_.resize(std::max(rows_.size(), ids.size() * vocab));
  row_ = std::span(rows_).first(vocab);
  Clock::time_point start = Clock::now();
  try {
    eng_step(e, ids, static_cast<uint32_t>(pos), std::span(rows_).first(ids.size() * vocab));
  } catch (const Error&) {
    if (run.ahead.empty()) throw;
    drafter_.scored(run.ahead.size(), 0);  // it may be of a guess only, which gained nothing
    run.ahead.clear();
    start = Clock::now();
    eng_step(e, std::span(ids).first(1), static_cast<uint32_t>(pos), row_);
  }
  drafter_.timed(run.ahead.size(), since(start));
  ++run.reply.steps;
}

// Brings row_ to the logits that follow `id`: they are there where it was guessed.
void Replier::advance(Run& run, int32_t id) {
  if (run.right < run.ahead.size() && run.ahead[run.right] == id) {
    ++run.right;
    ++run.reply.guessed_right;
    row_ = std::span(rows_).subspan(run.right * row_.size(), row_.size());
  } else {
    settle(run, run.ahead.size());  // those after a wrong one are wrong
    step_ahead(run, id);
  }
  cached_.push_back(id);
}

// Samples until something ends the reply; row_ holds the logits of the last position run.
void Replier::sample(Run& run) {
  Reply& rep = run.reply;
  Engine& e = *r_.engine;
  for (;;) {
    if (rep.ids.size() >= o_.set.max) return void(rep.stop = Stop::max);
    if (interrupted() || (stop_after && rep.ids.size() >= *stop_after)) return void(rep.stop = Stop::interrupted);
    if (!logits) run.print.add(row_);
    const int32_t id = samp_pick(sampler_, r_.engine->narrow(), row_, cached_);
    rep.ids.push_back(id);
    record(run, id);
    if (r_.tok && r_.tok->is_end(id)) return void(rep.stop = Stop::end);
    if (const auto named = run.stop_tokens.find(id); named != run.stop_tokens.end()) {
      rep.stop_text = named->second;
      return void(rep.stop = Stop::text);
    }
    if (!show(run, id)) {
      rep.stop_text = run.stop.match();
      return void(rep.stop = Stop::text);
    }
    if (rep.ids.size() >= o_.set.max) return void(rep.stop = Stop::max);
    if (cached_.size() >= e.ctx()) {
      std::optional<Prompt> shorter = on_full ? on_full(rep.ids) : std::nullopt;
      if (!shorter) return void(rep.stop = Stop::context);
      rep.rereads.push_back(static_cast<uint32_t>(rep.ids.size()));
      read_again(run, shorter->ids);
      continue;
    }
    advance(run, id);
    if (logits) {
      logits->add(row_);
      run.print.add(row_);
    }
  }
}

Reply Replier::run(const std::vector<int32_t>& prompt) {
  Run run(stop_texts(r_, o_.set.stops));
  Reply& rep = run.reply;
  sampler_.params = o_.set.samp;
  rep.prompt_tokens = static_cast<uint32_t>(prompt.size());
  run.before = prompt.back();
  const auto finish = [&] {
    const std::string rest = run.utf8.push(run.stop.flush()) + run.utf8.flush();
    rep.text += rest;
    if (on_text && !rest.empty()) on_text(rest);
  };
  const Clock::time_point start = Clock::now();
  Clock::time_point sampling = start;
  try {
    rep.cached_tokens = keep_shared(prompt);
    read_prompt(run, prompt);
    rep.prompt_seconds = since(start);
    sampling = Clock::now();
    sample(run);
  } catch (const Cancelled&) { rep.stop = Stop::interrupted; } catch (...) {
    finish();
    throw;
  }
  settle(run, run.right);
  rep.reply_seconds = since(sampling) - rep.reread_seconds;
  finish();
  rep.context = static_cast<uint32_t>(cached_.size());
  rep.fingerprint = run.print.value();
  rep.fingerprint_hex = run.print.hex();
  return rep;
}

}  // namespace nyb
