// conversation.cpp - turns added, cut and dropped.
#include "text/conversation.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "kern/error.h"

namespace nyb {
namespace {

std::string too_long(size_t ids, size_t ctx) {
  return fmt::format("the prompt has {} tokens, the context {}; shorten it or choose a larger context", ids, ctx);
}

}  // namespace

size_t common_prefix(std::span<const int32_t> a, std::span<const int32_t> b) {
  const size_t n = std::min(a.size(), b.size());
  return static_cast<size_t>(std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(n), b.begin()).first - a.begin());
}

Conversation::Conversation(const Tokenizer& tok, const ChatTemplate* tmpl, size_t ctx) : tok_(tok), tmpl_(tmpl), ctx_(ctx) {}

// The system message and the turns, up to the reply of the newest or with it.
std::vector<Message> Conversation::messages(std::span<const Turn> turns, bool reply_next) const {
  std::vector<Message> all;
  if (!system_text_.empty()) all.push_back({"system", system_text_, {}, {}});
  for (size_t i = 0; i < turns.size(); ++i) {
    all.push_back({"user", turns[i].message, {}, {}});
    if (i + 1 < turns.size() || !reply_next) all.push_back(turns[i].reply);
  }
  return all;
}

// As if the turns had been told one after the other.
Told Conversation::told_of(std::span<const Turn> turns) const {
  Told told;
  for (size_t n = 1; n <= turns.size(); ++n) {
    const std::vector<Message> all = messages(turns.first(n), true);
    told = n == 1 ? tmpl_->tell(all, true) : tmpl_->follow(told, turns[n - 2].reply, all, true);
  }
  return told;
}

// How many of the oldest turns must go, at least one, for the rest, `more` ids and `room` to fit; the newest turn stays.
size_t Conversation::surplus(std::span<const Turn> turns, size_t more, size_t room) const {
  size_t least = 1, most = turns.size() - 1;
  while (least < most) {
    const size_t half = least + (most - least) / 2;
    const size_t ids = tmpl_->tell(messages(turns.subspan(half), true), true).ids.size();
    if (ids + more + room <= ctx_) {
      most = half;
    } else {
      least = half + 1;
    }
  }
  return least;
}

size_t Conversation::make_room(std::vector<Turn>& turns, Told& told, size_t more, size_t room) const {
  room = std::min(room, ctx_);
  size_t count = 0;
  while (turns.size() > 1 && told.ids.size() + more + room > ctx_) {
    // what they take is known closely, for ids of replies may come out otherwise within other ids
    const size_t n = count == 0 ? surplus(turns, more, room) : 1;
    turns.erase(turns.begin(), turns.begin() + static_cast<std::ptrdiff_t>(n));
    told = told_of(turns);
    count += n;
  }
  return count;
}

void Conversation::set_system(std::string text) {
  if (!tmpl_ && !text.empty()) throw Error("the model runs without a chat template, which a system message needs");
  if (!tmpl_) return;
  if (!text.empty()) tmpl_->check_system(text);
  std::swap(system_text_, text);
  try {
    told_ = told_of(turns_);
  } catch (...) {
    system_text_ = std::move(text);
    throw;
  }
}

std::vector<int32_t> Conversation::bare_start() const {
  return tok_.bos() && tok_.add_bos() ? std::vector{*tok_.bos()} : std::vector<int32_t>();
}

// Without a template each message is a text of its own.
Prompt Conversation::complete(std::string_view text) {
  Told told{{}, bare_start(), {}};
  const std::vector<int32_t> ids = tok_.encode(text);
  told.ids.insert(told.ids.end(), ids.begin(), ids.end());
  if (told.ids.empty()) throw Error("there is nothing to complete: the text is empty and the model has no BOS");
  if (told.ids.size() > ctx_) throw Error(too_long(told.ids.size(), ctx_));
  turns_.assign(1, {std::string(text), {}});
  told_ = std::move(told);
  open_ = true;
  return {told_.ids, 0};
}

Prompt Conversation::ask(std::string_view text, size_t room) {
  if (!tmpl_) return complete(text);
  std::vector<Turn> turns = turns_;
  if (open_) turns.pop_back();
  turns.push_back({std::string(text), {}});
  const std::span<const Turn> all(turns);
  const size_t alone = tmpl_->tell(messages(all.last(1), true), true).ids.size();
  if (alone > ctx_) throw Error(too_long(alone, ctx_));
  Told told = open_ || turns_.empty() ? told_of(all) : tmpl_->follow(told_, turns_.back().reply, messages(all, true), true);
  const size_t count = make_room(turns, told, 0, room);
  turns_ = std::move(turns);
  told_ = std::move(told);
  open_ = true;
  dropped_ += count;
  return {told_.ids, count};
}

std::optional<Prompt> Conversation::more_room(std::span<const int32_t> reply_so_far, size_t room) {
  if (!open_ || !tmpl_) return std::nullopt;
  std::vector<Turn> turns = turns_;
  Told told = told_;
  const size_t count = make_room(turns, told, reply_so_far.size(), room);
  if (count == 0) return std::nullopt;
  turns_ = std::move(turns);
  told_ = std::move(told);
  dropped_ += count;
  Prompt prompt{told_.ids, count};
  prompt.ids.insert(prompt.ids.end(), reply_so_far.begin(), reply_so_far.end());
  return prompt;
}

void Conversation::reply(std::span<const int32_t> sampled) {
  if (!open_) return;
  open_ = false;
  std::vector<int32_t> ids(sampled.begin(), sampled.end());
  while (!ids.empty() && tok_.is_end(ids.back())) ids.pop_back();
  turns_.back().reply = reply_message(tok_, told_.ids.empty() ? -1 : told_.ids.back(), std::move(ids));
}

bool Conversation::take_back() {
  if (turns_.empty()) return false;
  turns_.pop_back();
  open_ = false;
  told_ = tmpl_ ? told_of(turns_) : Told();
  return true;
}

void Conversation::reset() {
  turns_.clear();
  told_ = {};
  open_ = false;
  dropped_ = 0;
}

std::vector<int32_t> Conversation::ids() const {
  if (open_) return told_.ids;
  std::vector<int32_t> plain = !tmpl_ && turns_.empty() ? bare_start() : told_.ids;
  if (!turns_.empty()) plain.insert(plain.end(), turns_.back().reply.ids.begin(), turns_.back().reply.ids.end());
  if (!tmpl_) return plain;
  try {
    const std::vector<Message> all = messages(turns_, false);
    return turns_.empty() ? tmpl_->tell(all, false).ids : tmpl_->follow(told_, turns_.back().reply, all, false).ids;
  } catch (const Error&) { return plain; }  // a template may refuse a conversation without messages
}

}  // namespace nyb
