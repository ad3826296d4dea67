// session.h - a conversation with a model: messages in, replies out.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>
#include "chat/messages.h"
#include "chat/record.h"
#include "chat/reply.h"
#include "chat/runtime.h"
#include "text/conversation.h"

namespace nyb {

// Positions kept free for a reply when old turns have to go: dropping few at a time would read the prompt again and again.
size_t room_for_reply(const Settings& s, size_t ctx);

class Session {
 public:
  // runtime and options must outlive the session; the options' settings may change between two messages. Where the options name
  // a conversation to load it is there; where they name one to save it is written after each message.
  Session(Runtime& r, ChatOptions& o);

  // Answers one message. false: it was interrupted (the flag is still set). Throws Error; the conversation is then as it was, and
  // so it is where the interruption came before the first token.
  bool ask(std::string_view text);
  // The same with token ids in place of text.
  bool ask_ids(const std::vector<int32_t>& ids);
  // Asks the newest message again, in place of its reply. Throws Error where there is none.
  bool ask_again();

  // Empty: no system message. Throws Error where the model knows none.
  void set_system(const std::string& text);
  // Forgets the newest message and its reply; the message, or nullopt where there is none.
  std::optional<std::string> take_back();
  void reset();  // forgets all messages; the system message stays
  void reseed(uint64_t seed);

  // Takes a saved conversation in place of this one; returns why it will not give the same answers again, or nothing. Throws Error;
  // the conversation is then as it was.
  std::string load(const std::string& path);
  void save(const std::string& path) const;

  // Does again what an event says, without a word: computes a message's reply (of one that was interrupted: up to the same token),
  // which last() then has. Throws Error.
  void repeat(const Event& e);

  // Messages from standard input until it ends, /quit or Ctrl+C at the prompt. Returns the exit code.
  int loop();

  Runtime& runtime() const { return r_; }
  ChatOptions& options() const { return o_; }
  const Conversation* conversation() const { return conv_ ? &*conv_ : nullptr; }
  const Record& record() const { return record_; }
  const Reply& last() const { return last_; }
  uint64_t seed() const { return seed_; }

 private:
  Conversation& talk();
  void compute(const std::vector<int32_t>& prompt);
  bool turn(std::string_view text);
  void tell();
  std::optional<std::string> forget_newest();
  void keep(Event e);
  void save_again() const;
  void apply(Conversation& c, const Event& e) const;
  Conversation rebuilt(const std::vector<Event>& events, uint32_t ctx) const;
  std::span<const int32_t> spoken(std::span<const int32_t> ids, Stop stop) const;
  std::string context_difference(const Record& rec) const;
  std::string difference(const Record& rec) const;
  void show_text(std::string_view piece);
  void context_note(size_t dropped);
  bool obey(const TypedMessage& m);  // false: leave

  Runtime& r_;
  ChatOptions& o_;
  uint64_t seed_;
  std::optional<Conversation> conv_;  // none without a tokenizer
  Replier replier_;
  Record record_;
  Reply last_;
  Rng::State before_{};        // of the generator, before the last reply
  bool lost_ = false;          // the last message was interrupted before its first token, and is not kept
  bool silent_ = false;        // repeating: nothing is told
  bool context_said_ = false;  // that old turns are left out
  bool odd_said_ = false;      // that some logits are not finite
  bool mid_line_ = false;      // the reply shown so far does not end its line
};

}  // namespace nyb
