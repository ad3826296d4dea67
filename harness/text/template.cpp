// template.cpp - the frame found in the template, and applied.
#include "text/template.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "kern/error.h"
#include "text/jinja.h"

namespace nyb {
namespace {

// A piece of what an output prints.
struct Part {
  enum Kind { literal, role, content, bos };
  Kind kind;
  std::string text;
};

[[noreturn]] void refuse(const JinjaNode& node) {
  throw Error(fmt::format("the chat template has \"{}\", which is not understood; only one frame around each message is",
                          jinja_quote(node.kind == JinjaNode::text ? node.value : node.source)));
}

}  // namespace

class TemplateParser {
 public:
  TemplateParser(std::string_view jinja, const Tokenizer& tok) : tok_(tok), nodes_(jinja_nodes(jinja)) { made_.tok_ = &tok; }

  ChatTemplate run() {
    opening();
    loop();
    prompt();
    check();
    return std::move(made_);
  }

 private:
  bool at_block(std::string_view first) const {
    return at_ < nodes_.size() && nodes_[at_].kind == JinjaNode::block && !nodes_[at_].tokens.empty() &&
           nodes_[at_].tokens[0].is(JinjaToken::word, first);
  }

  // The block that begins with `words[0]`; it must be these words and nothing else.
  const JinjaNode& block(std::initializer_list<std::string_view> words) {
    if (at_ == nodes_.size()) throw Error(fmt::format("the chat template ends where {{% {} %}} should be", *words.begin()));
    const JinjaNode& node = nodes_[at_++];
    if (node.kind != JinjaNode::block || node.tokens.size() != words.size()) refuse(node);
    size_t i = 0;
    for (const std::string_view w : words) {
      // "*" stands for any name.
      if (node.tokens[i].kind != JinjaToken::word || (w != "*" && node.tokens[i].value != w)) refuse(node);
      ++i;
    }
    return node;
  }

  // Text and outputs up to the next block, as parts.
  std::vector<Part> printed(std::string_view message) {
    std::vector<Part> out;
    for (; at_ < nodes_.size() && nodes_[at_].kind != JinjaNode::block; ++at_) {
      if (nodes_[at_].kind == JinjaNode::text) {
        out.push_back({Part::literal, nodes_[at_].value});
      } else {
        output(nodes_[at_], message, out);
      }
    }
    return out;
  }

  // term + term ~ term ..., round brackets around all or some of them.
  void output(const JinjaNode& node, std::string_view message, std::vector<Part>& out) const {
    const auto& t = node.tokens;
    int depth = 0;
    bool want_term = true;
    for (size_t i = 0; i < t.size();) {
      const bool sign = t[i].kind == JinjaToken::sign;
      if (want_term && sign && t[i].value == "(") {
        ++depth;
        ++i;
      } else if (want_term) {
        out.push_back(term(node, message, i));
        want_term = false;
      } else if (sign && (t[i].value == "+" || t[i].value == "~")) {
        want_term = true;
        ++i;
      } else if (sign && t[i].value == ")" && depth > 0) {
        --depth;
        ++i;
      } else {
        refuse(node);
      }
    }
    if (want_term || depth != 0) refuse(node);
  }

  // 'text', bos_token, eos_token, message['role'], message.role and so with content; i is left behind it.
  Part term(const JinjaNode& node, std::string_view message, size_t& i) const {
    const auto& t = node.tokens;
    const JinjaToken& first = t[i++];
    if (first.kind == JinjaToken::text) return {Part::literal, first.value};
    if (first.is(JinjaToken::word, "bos_token")) return {Part::bos, {}};
    // The file knows a set of ends; which of them was the source's eos_token is certain only where there is one.
    if (first.is(JinjaToken::word, "eos_token") && tok_.ends().size() == 1) {
      return {Part::literal, std::string(tok_.name(tok_.ends()[0]))};
    }
    if (message.empty() || !first.is(JinjaToken::word, message)) refuse(node);
    std::string field;
    if (i + 1 < t.size() && t[i].is(JinjaToken::sign, ".") && t[i + 1].kind == JinjaToken::word) {
      field = t[i + 1].value;
      i += 2;
    } else if (i + 2 < t.size() && t[i].is(JinjaToken::sign, "[") && t[i + 1].kind == JinjaToken::text &&
               t[i + 2].is(JinjaToken::sign, "]")) {
      field = t[i + 1].value;
      i += 3;
    }
    if (field == "role") return {Part::role, {}};
    if (field == "content") return {Part::content, {}};
    refuse(node);
  }

  void opening() {
    for (const Part& p : printed({})) {
      if (p.kind == Part::bos) {
        made_.bos_ = true;
      } else {
        made_.opening_ += p.text;
      }
    }
  }

  void loop() {
    const JinjaNode& head = block({"for", "*", "in", "messages"});
    const std::vector<Part> parts = printed(head.tokens[1].value);
    block({"endfor"});
    // literal, role, literal, content, literal
    std::string* const side[] = {&made_.before_role_, &made_.after_role_, &made_.after_text_};
    size_t seen = 0;
    for (const Part& p : parts) {
      if (p.kind == Part::literal) {
        *side[seen] += p.text;
      } else if (p.kind == (seen == 0 ? Part::role : Part::content) && seen < 2) {
        ++seen;
      } else {
        throw Error("the chat template does not print role and content once each, in this order, around each message");
      }
    }
    if (seen != 2) throw Error("the chat template does not print both role and content of a message");
  }

  void prompt() {
    if (at_ == nodes_.size()) {
      made_.prompt_ = made_.before_role_ + "assistant" + made_.after_role_;
      return;
    }
    block({"if", "add_generation_prompt"});
    for (const Part& p : printed({})) {
      if (p.kind != Part::literal) throw Error("the chat template writes bos_token before a reply, which is not understood");
      made_.prompt_ += p.text;
    }
    if (at_block("else")) {
      // What is printed where no reply is asked for; here one always is.
      ++at_;
      printed({});
    }
    block({"endif"});
    if (at_ != nodes_.size()) refuse(nodes_[at_]);
  }

  bool begins_special(const std::string& text) const {
    const auto ids = tok_.encode_with_specials(text);
    return !ids.empty() && tok_.is_special(ids[0]);
  }

  // Ids of a conversation are put together message by message. That equals the ids of the whole text only where a special
  // stands at each joint.
  void check() const {
    for (const char* role : {"user", "assistant"}) {
      const std::string frame = made_.before_role_ + role + made_.after_role_;
      if (!begins_special(frame))
        throw Error(fmt::format("the chat template begins a message with \"{}\", which is no special token", jinja_quote(frame)));
    }
    if (!begins_special(made_.after_text_)) {
      throw Error(
          fmt::format("the chat template closes a message with \"{}\", which is no special token", jinja_quote(made_.after_text_)));
    }
    if (!begins_special(made_.prompt_)) {
      throw Error(
          fmt::format("the chat template begins a reply with \"{}\", which is no special token", jinja_quote(made_.prompt_)));
    }
  }

  const Tokenizer& tok_;
  std::vector<JinjaNode> nodes_;
  size_t at_ = 0;
  ChatTemplate made_;
};

ChatTemplate ChatTemplate::parse(std::string_view jinja, const Tokenizer& tok) { return TemplateParser(jinja, tok).run(); }

std::vector<int32_t> ChatTemplate::start() const {
  std::vector<int32_t> ids = tok_->encode_with_specials(opening_);
  const auto bos = tok_->bos();
  if (!bos) return ids;
  if (bos_ || tok_->add_bos()) ids.insert(ids.begin(), *bos);
  // The template may write out what bos_token or the file adds already.
  const auto other = std::find_if(ids.begin(), ids.end(), [&](int32_t id) { return id != *bos; });
  if (other - ids.begin() > 1) ids.erase(ids.begin() + 1, other);
  return ids;
}

std::vector<int32_t> ChatTemplate::message(const Message& m) const {
  if (m.role != "system" && m.role != "user" && m.role != "assistant") {
    throw Error(fmt::format("the role of a message is \"{}\"; system, user and assistant are known", jinja_quote(m.role)));
  }
  return tok_->encode_framed(before_role_ + m.role + after_role_, m.content, after_text_);
}

std::vector<int32_t> ChatTemplate::reply_prompt() const { return tok_->encode_with_specials(prompt_); }
std::vector<int32_t> ChatTemplate::reply_end() const { return tok_->encode_with_specials(after_text_); }

}  // namespace nyb
