#include "text/go_template.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "kern/error.h"
#include "text/template.h"

namespace nyb {
namespace {

// Texts that no template has, one for each message.
constexpr std::string_view kSystem = "SYSTEM-QKX", kUser = "USER-QKX", kReply = "REPLY-QKX";

using Messages = std::vector<Message>;
Message said(const char* role, std::string_view text) { return {role, std::string(text), {}, {}}; }

// What stands between the messages of a conversation in which a reply is next.
struct Pieces {
  std::string begin;                        // before the first user's message, where there is no system message
  std::string before_system, after_system;  // up to there where there is one
  std::string reply, next, ask;             // from a user's message to its reply, from there to the next one; after the last one
  bool system = false;

  std::string print(const Messages& messages) const {
    std::string out;
    for (size_t i = 0; i < messages.size(); i++) {
      const Message& m = messages[i];
      if (m.role == "system")
        out += before_system + m.content + after_system;
      else
        out += (i == 0 ? begin : "") + m.content + (i + 1 == messages.size() ? ask : m.role == "user" ? reply : next);
    }
    return out;
  }
};

// The two sides of a mark.
std::pair<std::string, std::string> around(std::string_view text, std::string_view mark) {
  const size_t at = text.find(mark);
  if (at == text.npos)
    throw Error("the chat template does not print each message as it is, which this program cannot say in Go's form");
  return {std::string(text.substr(0, at)), std::string(text.substr(at + mark.size()))};
}

class Finder {
 public:
  Finder(std::string_view jinja, const Tokenizer& tok)
      : tmpl_(ChatTemplate::parse(jinja, tok, {.date = today(), .variables = {}})) {}

  bool tells_date() const { return tmpl_.tells_date(); }

  Pieces turns() const {
    Pieces p;
    std::string rest;
    std::tie(p.begin, rest) = around(print({said("user", kUser), said("assistant", kReply), said("user", kUser)}), kUser);
    std::tie(p.reply, rest) = around(rest, kReply);
    std::tie(p.next, p.ask) = around(rest, kUser);
    for (const size_t n : {size_t{1}, size_t{3}, size_t{5}})
      if (p.print(conversation(n, false)) != print(conversation(n, false)))
        throw Error("the chat template prints a message in more than one way, which this program cannot say in Go's form");
    return p;
  }

  // Adds what a system message does; not where the template takes none, or puts it elsewhere.
  void system(Pieces& p) const {
    Pieces with = p;
    try {
      std::string rest;
      std::tie(with.before_system, rest) = around(print({said("system", kSystem), said("user", kUser)}), kSystem);
      with.after_system = around(rest, kUser).first;
      for (const size_t n : {size_t{1}, size_t{3}, size_t{5}})
        if (with.print(conversation(n, true)) != print(conversation(n, true))) return;
    } catch (const Error&) { return; }
    p = with;
    p.system = true;
  }

 private:
  std::string print(const Messages& m) const { return tmpl_.tell(m, true).text; }

  // Of `n` messages, each of another text, after the system's.
  static Messages conversation(size_t n, bool system) {
    Messages m;
    if (system) m.push_back(said("system", "Be brief and kind."));
    for (size_t i = 0; i < n; i++)
      m.push_back(said(i % 2 == 0 ? "user" : "assistant", fmt::format("Text {} of {}, with words.", i, n)));
    return m;
  }

  ChatTemplate tmpl_;
};

// Text of the template itself: what Go would take for its own goes in as a string of its language.
std::string literal(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const bool own = text.substr(i).starts_with("{{");
    out += own ? R"({{ "{{" }})" : std::string(1, text[i]);
    i += own ? 2 : 1;
  }
  return out;
}

}  // namespace

GoTemplate go_template(std::string_view jinja, const Tokenizer& tok) {
  const Finder finder(jinja, tok);
  Pieces p = finder.turns();
  finder.system(p);
  GoTemplate out;
  if (tok.add_bos() && tok.bos())
    for (std::string* begin : {&p.begin, &p.before_system})
      if (begin->starts_with(tok.name(*tok.bos()))) begin->erase(0, tok.name(*tok.bos()).size());
  if (p.system)
    out.text = fmt::format("{{{{ if .System }}}}{}{{{{ .System }}}}{}{{{{ else }}}}{}{{{{ end }}}}", literal(p.before_system),
                           literal(p.after_system), literal(p.begin));
  else
    out.text = literal(p.begin);
  // a reply at the end is one that is being written
  out.text += fmt::format(
      "{{{{ range $i, $_ := .Messages }}}}{{{{ $last := eq (len (slice $.Messages $i)) 1 }}}}"
      "{{{{ if eq .Role \"user\" }}}}{{{{ .Content }}}}{{{{ if $last }}}}{}{{{{ else }}}}{}{{{{ end }}}}"
      "{{{{ else if eq .Role \"assistant\" }}}}{{{{ .Content }}}}{{{{ if not $last }}}}{}{{{{ end }}}}{{{{ end }}}}{{{{ end }}}}",
      literal(p.ask), literal(p.reply), literal(p.next));
  if (!p.system) out.notes = "a system message has no place of its own in the chat template, so that Ollama leaves it out";
  if (finder.tells_date())
    out.notes +=
        fmt::format("{}the date in the chat template stays today's, {}", out.notes.empty() ? "" : "; ", date_text(today()));
  return out;
}

}  // namespace nyb
