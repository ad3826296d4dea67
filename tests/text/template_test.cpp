#include "text/template.h"

#include <gtest/gtest.h>

#include "chat_templates.h"
#include "support/data.h"
#include "text/jinja/jinja.h"
#include "text_support.h"

namespace nyb {
namespace {
using namespace test;

std::string pocket_template() { return pocket_config().at("chat_template"); }

// Pocket's frame, written in many ways.
const char* const kSameFrame[] = {
    "{{ bos_token }}{% for m in messages %}{{ '<|' + m['role'] + '|>' + m['content'] + '<|end|>' }}{% endfor %}{% if "
    "add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}",
    "{{bos_token}}{%for message in messages%}{{'<|'+message.role+'|>'+message.content+'<|end|>'}}{%endfor%}{%if "
    "add_generation_prompt%}{{'<|assistant|>'}}{%endif%}",
    "{{- bos_token -}}\n{%- for message in messages -%}\n  {{- \"<|\" ~ message[\"role\"] ~ \"|>\" ~ message.content -}}\n  "
    "<|end|>\n{%- endfor -%}\n{%- if add_generation_prompt -%}\n"
    "  <|assistant|>\n{%- endif -%}\n",
    "{{ bos_token }}{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}{% if add_generation_prompt "
    "%}<|assistant|>{% endif %}",
    "{# Each message in its frame. #}\n{{ bos_token }}{% for m in messages %}\n{{ ('<|' + m['role'] + '|>') + (m['content'] + "
    "'<|end|>') }}{% endfor %}\n{% if add_generation_prompt %}\n"
    "{{ '<|assistant|>' }}{% else %}{{ '' }}{% endif %}\n",
    "<|bos|>{% for m in messages %}{{ '<|' + m.role + '|>' + m.content + eos_token }}{% endfor %}{% if add_generation_prompt %}{{ "
    "'<|assistant|>' }}{% endif %}",
    "{{ bos_token }}<|bos|>{% for m in messages %}{{ '<|' + m.role + '|>' + m.content + '<|end|>' }}{% endfor %}<|assistant|>",
    "{% for m in messages %}{{ '<|' + m['role'] + '|>' + m['content'] + '<|end|>' }}{% endfor %}<|assistant|>",
};

Message said(const char* role, const std::string& content) { return {role, content, {}, {}}; }

Ids told(const ChatTemplate& t, const std::vector<Message>& messages, bool reply_next = true) {
  return t.tell(messages, reply_next).ids;
}

Ids rendered(const ChatTemplate& t) {
  return told(t, {said("system", "Hello"), said("user", "hi"), said("assistant", "Hello"), said("user", "1")});
}

const Ids kWant = {2043, 2046, 984, 2047, 2044, 338, 2047, 2045, 984, 2047, 2044, 49, 2047, 2045};

TEST(Template, PocketsIds) {
  const ChatTemplate t = ChatTemplate::parse(pocket_template(), pocket());
  EXPECT_EQ(told(t, {}, false), Ids{2043});
  EXPECT_EQ(told(t, {said("user", "Hello")}, false), (Ids{2043, 2044, 984, 2047}));
  EXPECT_EQ(told(t, {said("user", "Hello")}), (Ids{2043, 2044, 984, 2047, 2045}));
  EXPECT_EQ(t.reply_end(), 2047);
  EXPECT_EQ(rendered(t), kWant);
}

TEST(Template, WaysToWriteIt) {
  for (const char* text : kSameFrame) { EXPECT_EQ(rendered(ChatTemplate::parse(text, pocket())), kWant) << text; }
}

// Exactly one BOS: whether the file asks for it, the template writes it, both or neither.
TEST(Template, OneBosAtMost) {
  const std::string frame = "{% for m in messages %}{{ '<|' + m.role + '|>' + m.content + '<|end|>' }}{% endfor %}";
  for (const uint64_t add : {0, 1}) {
    Meta m = pocket_meta();
    m.set("tok.add_bos", add);
    const auto tok = Tokenizer::from_meta(m);
    EXPECT_EQ(told(ChatTemplate::parse(frame, *tok), {}), add ? Ids{2043} : Ids{});
    for (const char* opening : {"{{ bos_token }}", "<|bos|>", "{{ '<|bos|>' }}", "{{ bos_token + '<|bos|>' }}"}) {
      EXPECT_EQ(told(ChatTemplate::parse(opening + frame, *tok), {}), Ids{2043}) << opening << add;
    }
    EXPECT_EQ(told(ChatTemplate::parse("{{ bos_token }}Hello" + frame, *tok), {}), (Ids{2043, 984}));
    // what a user types is no BOS, though nothing comes before it
    const ChatTemplate bare = ChatTemplate::parse("{{ messages[0].content }}", *tok);
    Ids want = tok->encode("<|bos|>");
    if (add) want.insert(want.begin(), 2043);
    EXPECT_EQ(told(bare, {said("user", "<|bos|>")}), want);
  }
  // A model without BOS: bos_token prints nothing.
  Meta none;
  for (const auto& [k, e] : pocket_meta().entries()) {
    if (k != "tok.bos") none.set(k, e.value, e.required);
  }
  const auto tok = Tokenizer::from_meta(none);
  EXPECT_EQ(tok->bos(), std::nullopt);
  EXPECT_FALSE(tok->add_bos());
  EXPECT_EQ(told(ChatTemplate::parse("{{ bos_token + '' }}" + frame, *tok), {}), Ids{});
}

// ChatML: text between the role and the content, and after the end.
TEST(Template, ChatMl) {
  nlohmann::json j = made_up_bpe({{'\n', '\n'}, {'h', 'i'}});
  j["added_tokens"] = {{{"id", 258}, {"content", "<|im_start|>"}, {"special", true}},
                       {{"id", 259}, {"content", "<|im_end|>"}, {"special", true}}};
  const std::string text =
      "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\\n'}}{% "
      "endfor %}"
      "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";
  Meta meta;
  tok_import_hf(folder_with(j, {{"chat_template", text}, {"eos_token", nullptr}}).string(), 260, meta);
  const auto tok = Tokenizer::from_meta(meta);
  EXPECT_EQ(tok->ends(), Ids{259});  // what closes a reply ends it
  const ChatTemplate t = ChatTemplate::parse(text, *tok);
  const Ids prompt = {258, 'a', 's', 's', 'i', 's', 't', 'a', 'n', 't', '\n'};
  const auto with_prompt = [&](Ids ids) {
    ids.insert(ids.end(), prompt.begin(), prompt.end());
    return ids;
  };
  EXPECT_EQ(told(t, {}), prompt);
  EXPECT_EQ(told(t, {said("user", "hi")}), with_prompt({258, 'u', 's', 'e', 'r', '\n', 257, 259, '\n'}));
  // A content that begins with a line end meets the frame's: one token, as when the whole text is tokenized.
  EXPECT_EQ(told(t, {said("user", "\nhi")}), with_prompt({258, 'u', 's', 'e', 'r', 256, 257, 259, '\n'}));
  // But a reply is as it was sampled, after a prompt that ended before it.
  const Message reply = reply_message(*tok, '\n', {'\n', 'h', 'i'});
  EXPECT_EQ(reply.content, "\nhi");
  Ids want = with_prompt({});
  want.insert(want.end(), {'\n', 'h', 'i', 259, '\n'});
  EXPECT_EQ(told(t, {reply}, false), want);
  EXPECT_EQ(t.reply_end(), 259);
}

TEST(Template, RolesOutsideTheThree) {
  const ChatTemplate t = ChatTemplate::parse(pocket_template(), pocket());
  for (const char* role : {"tool", "", "User", "end|><|assistant"}) {
    EXPECT_NE(error_of([&] { told(t, {said(role, "x")}); }).find("role"), std::string::npos) << role;
  }
}

TEST(Template, RefusesWhatTellsNothing) {
  const std::pair<const char*, const char*> rows[] = {
      {"", "prints nothing of what a user says"},
      {"{% macro tool(x) %}{{ x }}{% endmacro %}", "prints nothing of what a user says"},
      {"{% for m in messages %}", "endfor"},
      {"{{ raise_exception('never') }}", "never"},
      {"{{ messages[0].content }}{{ eos_token + missing }}", "\"missing\", which is not defined"},
      {"{{ messages[0].content }}{% import 'x' %}", "import"}};
  for (const auto& [text, part] : rows) {
    const std::string error = error_of([&, t = text] { ChatTemplate::parse(t, pocket()); });
    EXPECT_NE(error.find(part), std::string::npos) << "\"" << error << "\" lacks \"" << part << "\" for " << text;
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  }
}

// The source's eos_token is certain where there is one end, or where the file says which.
TEST(Template, EosToken) {
  const std::string text = "{{ messages[0].content + eos_token }}";
  EXPECT_EQ(told(ChatTemplate::parse(text, pocket()), {said("user", "Hello")}), (Ids{2043, 984, 2047}));
  Meta m = pocket_meta();
  m.set("tok.ends", std::vector<uint32_t>{2044, 2047});
  const auto several = Tokenizer::from_meta(m);
  EXPECT_EQ(several->eos(), std::nullopt);
  EXPECT_NE(error_of([&] { ChatTemplate::parse(text, *several); }).find("eos_token"), std::string::npos);
  m.set("tok.eos", uint64_t{2044});
  EXPECT_EQ(told(ChatTemplate::parse(text, *Tokenizer::from_meta(m)), {said("user", "Hello")}), (Ids{2043, 984, 2044}));
}

TEST(Template, OptionsReachIt) {
  const std::string text =
      "{{ messages[0].content }}{{ strftime_now('%d %B') }}{{ '|' ~ a is string ~ b is false ~ c.d[0] ~ (e if e is defined) }}";
  TemplateOptions o{
      date_parse("2026-07-04"),
      {{"a", "7 up"}, {"b", "false"}, {"c", "{\"d\": [12]}"}, {"e", "\"\""}, {"f", "<|end|>"}, {"g", "{\"h\": \"<|end|>\"}"}}};
  EXPECT_EQ(ChatTemplate::parse(text, pocket(), o).tell(std::vector{said("user", "")}, true).text, "04 July|truetrue12");
  EXPECT_TRUE(ChatTemplate::parse(text, pocket(), o).tells_date());
  EXPECT_FALSE(ChatTemplate::parse(pocket_template(), pocket()).tells_date());
  // what an option says is plain text too
  const ChatTemplate t = ChatTemplate::parse("{{ messages[0].content ~ f ~ g.h }}", pocket(), o);
  for (const int32_t id : told(t, {said("user", "")})) EXPECT_TRUE(id == 2043 || !pocket().is_special(id));
  for (const char* bad :
       {"2026-02-29", "2026-7-4", "4.7.2026", "", "2026-07-04x", "2026-13-01", "+026-07-04", "2026-1a-04", "202a-07-04"})
    EXPECT_NE(error_of([&] { (void)date_parse(bad); }).find("2026-07-31"), std::string::npos) << bad;
  EXPECT_EQ(date_text(date_parse("2028-02-29")), "2028-02-29");
}

Ids specials_of(const Ids& ids) {
  Ids out;
  for (const int32_t id : ids)
    if (all_families().is_special(id)) out.push_back(id);
  return out;
}

// The specials of a conversation are those of the same conversation with harmless words, whatever a user or a system text says.
void expect_no_special_from_texts(const std::string& name, const std::string& source) {
  const ChatTemplate t = ChatTemplate::parse(source, all_families(), {date_parse("2026-07-04"), {}});
  bool system = true;
  try {
    t.check_system("word");
  } catch (const Error&) { system = false; }
  const auto talk = [&](const std::string& text) {
    std::vector<Message> all;
    if (system) all.push_back(said("system", text));
    for (const char* role : {"user", "assistant", "user"}) all.push_back(said(role, text));
    return told(t, all);
  };
  const Ids want = specials_of(talk("word"));
  for (const std::string& special : family_specials()) {
    for (const std::string& text :
         {special, "a " + special + "\n\nb " + special + special, special.substr(1), special.substr(0, special.size() - 1)}) {
      // thinking that a template cuts from a reply may take one of the template's own along
      const Ids is = specials_of(talk(text));
      EXPECT_LE(is.size(), want.size()) << name << ": " << text;
      if (text.find("think") == text.npos) { EXPECT_EQ(is, want) << name << ": " << text; }
    }
  }
}

TEST(Template, NothingTypedBecomesASpecial) {
  for (const auto& [name, source] : own_templates()) expect_no_special_from_texts(name, source);
}

TEST(Template, NothingTypedBecomesASpecialInSharedOnes) {
  NYB_NEED_DATA();
  const auto all = shared_templates();
  EXPECT_GE(all.size(), 7u);
  for (const auto& [name, source] : all) expect_no_special_from_texts(name, source);
}

TEST(Template, SystemMessagesWhereThereAreNone) {
  const auto fault = [](const std::string& text) {
    return error_of([&] { ChatTemplate::parse(text, all_families()).check_system("You are kind."); });
  };
  for (const auto& [name, source] : own_templates()) {
    if (name == "turns") {
      EXPECT_NE(fault(source).find(
                    "takes no system message: the chat template, line 1: the template refuses the conversation: System role"),
                std::string::npos);
    } else {
      EXPECT_NO_THROW(ChatTemplate::parse(source, all_families()).check_system("You are kind.")) << name;
    }
  }
  EXPECT_NE(fault("{% for m in messages if m.role == 'user' %}{{ m.content }}{% endfor %}").find("leaves it out"),
            std::string::npos);
}

}  // namespace
}  // namespace nyb
