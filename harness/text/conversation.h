// conversation.h - the turns of a chat, kept as ids, and what of them still fits into the context.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>
#include "text/template.h"
#include "text/tokenizer.h"

namespace nyb {

struct Prompt {
  std::vector<int32_t> ids;  // all of them, from position 0
  size_t dropped = 0;        // oldest turns that this call dropped to make room; the chat says it when not 0
};

// How many leading ids a and b share: what a cache that ran `a` may keep for the prompt `b`. (Run at least the last id of
// a prompt again, since its logits are needed.)
size_t common_prefix(std::span<const int32_t> a, std::span<const int32_t> b);

// A turn is a user's message with its reply. The ids are those that the template gives the whole of what is kept, with each reply's
// ids as they were sampled. So where the template prints earlier turns as they were, the ids of a turn begin with those of the turn
// before, its reply and its closing: the cache serves on. Where it does not (it may leave out what an old reply thought), the cache
// keeps what both begin with. When the context is full, whole oldest turns go; the system message and the newest message of the
// user never do.
//
// Without a template (completion mode) each message is a text of its own: BOS where the model wants one, then the text.
class Conversation {
 public:
  // `tok`, and `tmpl` where it is not null, must outlive the conversation. ctx: positions of the engine's cache.
  Conversation(const Tokenizer& tok, const ChatTemplate* tmpl, size_t ctx);

  bool completion() const { return tmpl_ == nullptr; }
  size_t ctx() const { return ctx_; }

  // The system message from now on; empty: none. The turns stay. For a text not empty throws Error in completion mode, and where
  // the template takes no system message; all is then as it was.
  void set_system(std::string text);
  const std::string& system() const { return system_text_; }

  // Begins a turn and returns the ids to run. A turn begun before and not replied to is forgotten. Old turns are dropped
  // until `room` positions are left for the reply, or none is left to drop. Throws Error naming both numbers when the
  // system message and this one alone do not fit, and where the template refuses; the conversation is then as it was.
  Prompt ask(std::string_view text, size_t room = 1);

  // The context filled up while the reply was being written: drops old turns until `room` more positions are free, and
  // returns the ids to run, the reply so far included. nullopt when no turn is left to drop: the reply ends here.
  std::optional<Prompt> more_room(std::span<const int32_t> reply_so_far, size_t room = 1);

  // Ends the turn with the ids that were sampled, with or without the end id at their end; cut short ones are closed too.
  void reply(std::span<const int32_t> sampled);

  bool take_back();  // removes the newest turn, replied to or not; false when there is none
  void reset();      // removes all turns; the system message stays

  size_t turns() const { return turns_.size(); }  // kept, the one begun included
  size_t dropped() const { return dropped_; }     // dropped since the start or the last reset
  std::vector<int32_t> ids() const;               // of all that is kept, as the next ask will begin

 private:
  struct Turn {
    std::string message;  // the user's
    Message reply;        // without the ids that ended it
  };
  std::vector<Message> messages(std::span<const Turn> turns, bool reply_next) const;
  Told told_of(std::span<const Turn> turns) const;
  size_t surplus(std::span<const Turn> turns, size_t more, size_t room) const;
  size_t make_room(std::vector<Turn>& turns, Told& told, size_t more, size_t room) const;
  std::vector<int32_t> bare_start() const;
  Prompt complete(std::string_view text);

  const Tokenizer& tok_;
  const ChatTemplate* tmpl_;
  size_t ctx_;
  std::string system_text_;
  std::vector<Turn> turns_;
  Told told_;          // up to where the newest turn's reply begins; empty where there is no turn
  bool open_ = false;  // the newest turn has no reply yet
  size_t dropped_ = 0;
};

}  // namespace nyb
