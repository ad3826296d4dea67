// template.h - from a conversation to ids, as the model's own chat template says.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#include "text/tokenizer.h"

namespace nyb {

namespace jinja {
class Marked;
class Template;
}  // namespace jinja

struct Message {
  std::string role;     // "system", "user", "assistant"
  std::string content;  // plain text, whatever it looks like
  // Of a reply: the ids that were sampled. They stand for their part of the content wherever the template prints it.
  std::vector<int32_t> ids;
  std::vector<size_t> ends;  // for each of them, how much of the content they spell up to and with it
};

// A reply as the template sees it: what the ids spell after the id `before` (-1: after none), specials by their names.
Message reply_message(const Tokenizer& tok, int32_t before, std::vector<int32_t> ids);

struct Date {
  int year = 2000, month = 1, day = 1;
};
Date today();                            // as the local clock has it
Date date_parse(std::string_view text);  // "2026-07-31"; throws Error
std::string date_text(const Date& d);

// What a template may be told beside the conversation: the date of strftime_now, and variables such as enable_thinking.
struct TemplateOptions {
  Date date;
  std::vector<std::pair<std::string, std::string>> variables;  // names, and values: JSON, or a text as it is
};

// A conversation told to the model.
struct Told {
  std::string text;           // as the template prints it
  std::vector<int32_t> ids;   // of that text
  std::vector<bool> sampled;  // which of them are a reply's own
};

class ChatTemplate {
 public:
  // Any Jinja that text/jinja knows. Throws Error saying what is not understood, or why a user's message cannot be printed with it.
  // `tok` must outlive the template.
  static ChatTemplate parse(std::string_view jinja, const Tokenizer& tok, TemplateOptions options = {});

  // The messages, and what comes before a reply where one is next. The ids are those of the printed text: specials are what the
  // template writes, never what a content says; plain text of both that meets is tokenized as one, but for replies that have ids.
  // BOS stands at the beginning where the template writes it or the file asks for it, once. Throws Error where the template refuses
  // the conversation, and for a role outside the three.
  Told tell(std::span<const Message> messages, bool reply_next) const;

  // The same of messages that go on where `before` and `reply`, which is one of them, ended: where the text does so too, the ids
  // begin with those of both. (Where it does not, the template prints earlier turns in another way now; the ids are as tell's.)
  Told follow(const Told& before, const Message& reply, std::span<const Message> messages, bool reply_next) const;

  // Throws Error, one sentence, where the template takes no system message or leaves it out.
  void check_system(const std::string& text) const;

  std::optional<int32_t> reply_end() const;  // the first special that the template closes a reply with
  bool tells_date() const { return tells_date_; }
  const TemplateOptions& options() const { return options_; }

 private:
  ChatTemplate() = default;
  jinja::Marked print(std::span<const Message> messages, bool reply_next) const;
  void encode(const jinja::Marked& text, size_t from, std::span<const Message> messages, Told& told) const;

  const Tokenizer* tok_ = nullptr;
  std::shared_ptr<const jinja::Template> template_;
  TemplateOptions options_;
  bool tells_date_ = false;
};

}  // namespace nyb
