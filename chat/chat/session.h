// session.h - a conversation with a model: messages in, replies out.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>
#include "chat/reply.h"
#include "chat/runtime.h"
#include "text/conversation.h"

namespace nyb {

class Session {
 public:
  // runtime and options must outlive the session.
  Session(Runtime& r, const ChatOptions& o);

  // Answers one message. false: it was interrupted (the flag is still set). Throws Error; the conversation is then as it was, and
  // so it is where the interruption came before the first token.
  bool ask(std::string_view text);
  // The same with token ids in place of text.
  bool ask_ids(const std::vector<int32_t>& ids);

  // Messages from standard input until it ends, /quit or Ctrl+C at the prompt. Returns the exit code.
  int loop();

 private:
  bool answer(const std::vector<int32_t>& prompt);
  void show_text(std::string_view piece);
  void context_note(size_t dropped);
  bool command(std::string_view line);  // false: leave
  void message(std::string_view line);

  Runtime& r_;
  const ChatOptions& o_;
  uint64_t seed_;
  std::optional<Conversation> conv_;  // none without a tokenizer
  Replier replier_;
  Reply last_;
  bool context_said_ = false;  // that old turns are left out
  bool odd_said_ = false;      // that some logits are not finite
  bool mid_line_ = false;      // the reply shown so far does not end its line
};

}  // namespace nyb
