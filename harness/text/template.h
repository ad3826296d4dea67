// template.h - from a conversation to ids. The `<|role|>text<|end|>` kind of template: a fixed frame around each message.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>
#include "text/tokenizer.h"

namespace nyb {

struct Message {
  std::string role;     // "system", "user", "assistant"
  std::string content;  // plain text, whatever it looks like
};

class ChatTemplate {
 public:
  // Recognizes the Jinja text of one kind of template: BOS or none, the same frame around each message with its role and
  // content, what comes before a reply. Throws Error saying what was not understood. `tok` must outlive the template.
  static ChatTemplate parse(std::string_view jinja, const Tokenizer& tok);

  std::vector<int32_t> start() const;  // BOS where the template writes one or the file asks for it; one at most
  // A message with its whole frame. The content never becomes a special. Throws Error for a role outside the three.
  std::vector<int32_t> message(const Message& m) const;
  std::vector<int32_t> reply_prompt() const;  // what comes before a reply
  std::vector<int32_t> reply_end() const;     // what closes a reply, end id included

 private:
  const Tokenizer* tok_ = nullptr;
  bool bos_ = false;
  std::string opening_;  // before the first message, without what bos_token prints
  std::string before_role_, after_role_, after_text_, prompt_;
  friend class TemplateParser;
};

}  // namespace nyb
