// conversation.cpp - turns added, cut and dropped.
#include "text/conversation.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "kern/error.h"

namespace nyb {
namespace {

void append(std::vector<int32_t>& to, const std::vector<int32_t>& from) { to.insert(to.end(), from.begin(), from.end()); }

}  // namespace

size_t common_prefix(std::span<const int32_t> a, std::span<const int32_t> b) {
  const size_t n = std::min(a.size(), b.size());
  return static_cast<size_t>(std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(n), b.begin()).first - a.begin());
}

Conversation::Conversation(const Tokenizer& tok, const ChatTemplate* tmpl, size_t ctx) : tok_(tok), tmpl_(tmpl), ctx_(ctx) {
  if (tmpl_) {
    head_ = tmpl_->start();
  } else if (tok_.bos() && tok_.add_bos()) {
    head_.push_back(*tok_.bos());
  }
}

void Conversation::set_system(std::string text) {
  if (!tmpl_ && !text.empty()) throw Error("the model runs without a chat template, which a system message needs");
  if (!tmpl_) return;
  std::vector<int32_t> head = tmpl_->start();
  if (!text.empty()) append(head, tmpl_->message({"system", text}));
  head_ = std::move(head);
  system_text_ = std::move(text);
}

size_t Conversation::kept_ids() const {
  size_t n = head_.size();
  for (const Turn& t : turns_) n += t.message.size() + t.reply.size();
  return n;
}

// How many of the oldest turns must go for all ids and `room` more to fit; the newest turn stays.
size_t Conversation::surplus(size_t ids, size_t room) const {
  size_t n = 0;
  while (n + 1 < turns_.size() && (ids > ctx_ || room > ctx_ - ids)) {
    ids -= turns_[n].message.size() + turns_[n].reply.size();
    ++n;
  }
  return n;
}

Prompt Conversation::drop(size_t count) {
  turns_.erase(turns_.begin(), turns_.begin() + static_cast<std::ptrdiff_t>(count));
  dropped_ += count;
  return {ids(), count};
}

Prompt Conversation::ask(std::string_view text, size_t room) {
  Turn turn;
  if (tmpl_) {
    turn.message = tmpl_->message({"user", std::string(text)});
    append(turn.message, tmpl_->reply_prompt());
  } else {
    turn.message = tok_.encode(text);
    if (head_.empty() && turn.message.empty())
      throw Error("there is nothing to complete: the text is empty and the model has no BOS");
  }
  const size_t alone = head_.size() + turn.message.size();
  if (alone > ctx_)
    throw Error(fmt::format("the prompt has {} tokens, the context {}; shorten it or choose a larger context", alone, ctx_));
  if (open_) turns_.pop_back();
  if (!tmpl_) turns_.clear();  // each message is a text of its own
  turns_.push_back(std::move(turn));
  open_ = true;
  return drop(surplus(kept_ids(), room));
}

std::optional<Prompt> Conversation::more_room(std::span<const int32_t> reply_so_far, size_t room) {
  if (!open_) return std::nullopt;
  const size_t count = surplus(kept_ids() + reply_so_far.size(), room);
  if (count == 0) return std::nullopt;
  Prompt prompt = drop(count);
  prompt.ids.insert(prompt.ids.end(), reply_so_far.begin(), reply_so_far.end());
  return prompt;
}

void Conversation::reply(std::span<const int32_t> sampled) {
  if (!open_) return;
  open_ = false;
  Turn& turn = turns_.back();
  turn.reply.assign(sampled.begin(), sampled.end());
  while (!turn.reply.empty() && tok_.is_end(turn.reply.back())) turn.reply.pop_back();
  if (tmpl_) append(turn.reply, tmpl_->reply_end());
}

bool Conversation::take_back() {
  if (turns_.empty()) return false;
  turns_.pop_back();
  open_ = false;
  return true;
}

void Conversation::reset() {
  turns_.clear();
  open_ = false;
  dropped_ = 0;
}

std::vector<int32_t> Conversation::ids() const {
  std::vector<int32_t> out;
  out.reserve(kept_ids());
  append(out, head_);
  for (const Turn& t : turns_) {
    append(out, t.message);
    append(out, t.reply);
  }
  return out;
}

}  // namespace nyb
