#include "text/template.h"

#include <gtest/gtest.h>

#include "support/data.h"
#include "text/jinja.h"
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
    "{{ bos_token }}<|bos|>{% for m in messages %}{{ '<|' + m.role + '|>' + m.content + '<|end|>' }}{% endfor %}",
    "{% for m in messages %}{{ '<|' + m['role'] + '|>' + m['content'] + '<|end|>' }}{% endfor %}",
};

Ids rendered(const ChatTemplate& t) {
  Ids out = t.start();
  for (const Message& m :
       {Message{"system", "Hello"}, Message{"user", "hi"}, Message{"assistant", "Hello"}, Message{"user", "1"}}) {
    const Ids ids = t.message(m);
    out.insert(out.end(), ids.begin(), ids.end());
  }
  const Ids prompt = t.reply_prompt();
  out.insert(out.end(), prompt.begin(), prompt.end());
  return out;
}

const Ids kWant = {2043, 2046, 984, 2047, 2044, 338, 2047, 2045, 984, 2047, 2044, 49, 2047, 2045};

TEST(Template, PocketsIds) {
  const ChatTemplate t = ChatTemplate::parse(pocket_template(), pocket());
  EXPECT_EQ(t.start(), Ids{2043});
  EXPECT_EQ(t.message({"user", "Hello"}), (Ids{2044, 984, 2047}));
  EXPECT_EQ(t.reply_prompt(), Ids{2045});
  EXPECT_EQ(t.reply_end(), Ids{2047});
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
    EXPECT_EQ(ChatTemplate::parse(frame, *tok).start(), add ? Ids{2043} : Ids{});
    for (const char* opening : {"{{ bos_token }}", "<|bos|>", "{{ '<|bos|>' }}", "{{ bos_token + '<|bos|>' }}"}) {
      EXPECT_EQ(ChatTemplate::parse(opening + frame, *tok).start(), Ids{2043}) << opening << add;
    }
    EXPECT_EQ(ChatTemplate::parse("{{ bos_token }}Hello" + frame, *tok).start(), (Ids{2043, 984}));
  }
  // A model without BOS: bos_token prints nothing.
  Meta none;
  for (const auto& [k, e] : pocket_meta().entries()) {
    if (k != "tok.bos") none.set(k, e.value, e.required);
  }
  const auto tok = Tokenizer::from_meta(none);
  EXPECT_EQ(tok->bos(), std::nullopt);
  EXPECT_FALSE(tok->add_bos());
  EXPECT_EQ(ChatTemplate::parse("{{ bos_token }}" + frame, *tok).start(), Ids{});
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
  EXPECT_EQ(t.start(), Ids{});
  EXPECT_EQ(t.message({"user", "hi"}), (Ids{258, 'u', 's', 'e', 'r', '\n', 257, 259, '\n'}));
  // A content that begins with a line end meets the frame's: one token, as when the whole text is tokenized.
  EXPECT_EQ(t.message({"user", "\nhi"}), (Ids{258, 'u', 's', 'e', 'r', 256, 257, 259, '\n'}));
  EXPECT_EQ(t.reply_end(), (Ids{259, '\n'}));
  EXPECT_EQ(t.reply_prompt(), (Ids{258, 'a', 's', 's', 'i', 's', 't', 'a', 'n', 't', '\n'}));
}

TEST(Template, RolesOutsideTheThree) {
  const ChatTemplate t = ChatTemplate::parse(pocket_template(), pocket());
  for (const char* role : {"tool", "", "User", "end|><|assistant"}) {
    EXPECT_NE(error_of([&] { t.message({role, "x"}); }).find("role"), std::string::npos) << role;
  }
}

TEST(Template, RefusesWhatItDoesNotUnderstand) {
  const std::string loop = "{% for m in messages %}", out = "{{ '<|' + m.role + '|>' + m.content + '<|end|>' }}",
                    end = "{% endfor %}";
  const std::pair<std::string, const char*> rows[] = {
      {"", "for"},
      {"Hello", "for"},
      {"{% set x = 1 %}" + loop + out + end, "set x"},
      {loop + "{% if m.role == 'user' %}" + out + "{% endif %}" + end, "if m.role"},
      {loop + out, "endfor"},
      {loop + "{{ m.role }}" + end, "both role and content"},
      {loop + "{{ '<|user|>' + m.content + '<|end|>' }}" + end, "role and content"},
      {loop + out + out + end, "once each"},
      {loop + "{{ m.content + m.role }}" + end, "once each"},
      {loop + "{{ m.text }}" + end, "m.text"},
      {loop + "{{ x.role }}" + end, "x.role"},
      {loop + "{{ m.content | trim }}" + end, "trim"},
      {loop + "{{ m.role m.content }}" + end, "m.role m.content"},
      {loop + "{{ (m.role }}" + end, "(m.role"},
      {loop + "{{ }}" + end, "{{ }}"},
      {loop + "{{ 'x }}" + end, "without an end"},
      {loop + out + end + "{% if add_generation_prompt %}x", "endif"},
      {loop + out + end + "{% if other %}x{% endif %}", "other"},
      {loop + out + end + "tail", "tail"},
      {loop + out + end + "{% if add_generation_prompt %}<|assistant|>{% endif %}tail", "tail"},
      {loop + out + end + "{% if add_generation_prompt %}Assistant:{% endif %}", "Assistant:"},
      {loop + "{{ m.role + ': ' + m.content + '<|end|>' }}" + end, "no special"},
      {loop + "{{ '<|' + m.role + '|>' + m.content + '\\n' }}" + end, "no special"},
      {loop + "{{ '\\q' + m.role }}" + end, "escape"},
      {"{% for m in messages", "without an end"},
      {"{%+ for m in messages %}" + out + end, "white space control"},
      {"{{", "without an end"},
      {"{% for m in messages[1:] %}" + out + end, "messages[1:]"},
      {"{{ raise_exception('x') }}" + loop + out + end, "raise_exception"},
  };
  for (const auto& row : rows) {
    const auto& [text, part] = row;
    const std::string error = error_of([&] { ChatTemplate::parse(row.first, pocket()); });
    EXPECT_NE(error.find(part), std::string::npos) << "\"" << error << "\" lacks \"" << part << "\" for " << text;
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  }
}

// Deep, long and broken templates give a sentence too.
TEST(Template, HostileText) {
  for (const std::string& text : {std::string(100000, '{'), "{{" + std::string(100000, '('), std::string(1000000, '\n'),
                                  "{{ '" + std::string(100000, '\\') + "' }}", std::string("\xff\x00{%\x80%}", 7)}) {
    EXPECT_FALSE(error_of([&] { ChatTemplate::parse(text, pocket()); }).empty());
  }
  Random rng(17);
  for (int round = 0; round < 4000; ++round) {
    std::string text = pocket_template();
    for (size_t k = 0; k <= rng.below(3); ++k) {
      const size_t at = rng.below(text.size());
      if (rng.below(2) == 0) {
        text.erase(at, 1 + rng.below(6));
      } else {
        text.insert(at, std::string(1, "{}%'+-.[]()ab|<>"[rng.below(16)]));
      }
    }
    try {
      rendered(ChatTemplate::parse(text, pocket()));
    } catch (const Error&) {
      continue;  // understood or refused, nothing else
    }
  }
}

// White space as Hugging Face's Jinja prints it.
TEST(Jinja, WhiteSpace) {
  const auto printed = [](const char* source) {
    std::string out;
    for (const JinjaNode& n : jinja_nodes(source))
      out += n.kind == JinjaNode::text ? n.value : n.kind == JinjaNode::output ? "O" : "B";
    return out;
  };
  EXPECT_EQ(printed("a {{ x }} b\n"), "a O b");  // the last line end leaves
  EXPECT_EQ(printed("a\n  {% if x %}\n  b\n  {% endif %}\nc"), "a\nB  b\nBc");
  EXPECT_EQ(printed("a  {%- if x -%}  b"), "aBb");
  EXPECT_EQ(printed("a  {{- x -}}\n\n b"), "aOb");
  EXPECT_EQ(printed("a  {{ x }}\n b"), "a  O\n b");  // an output's line end stays
  EXPECT_EQ(printed("a {% if x %}b"), "a Bb");       // not at the beginning of a line
  EXPECT_EQ(printed("  {# note #}\nb"), "b");
  EXPECT_EQ(printed("{{ '}}' }}{{ \"%}\" }}"), "OO");
  EXPECT_EQ(printed("{% if x %}\n  {% if y %}b"), "BBb");
  EXPECT_EQ(jinja_nodes("{{ 'a\\n\\t\\'\\\\' }}")[0].tokens[0].value, "a\n\t'\\");
}

// Templates of well-known models: what is not of the one kind is refused with a sentence.
TEST(Template, OfKnownModels) {
  NYB_NEED_DATA();
  size_t seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator(data_dir() / "chat-templates")) {
    if (entry.path().extension() != ".jinja") continue;
    ++seen;
    const std::string error = error_of([&] { ChatTemplate::parse(read_file(entry.path()), pocket()); });
    EXPECT_NE(error.find("the chat template"), std::string::npos) << entry.path() << ": " << error;
    EXPECT_EQ(error.find('\n'), std::string::npos);
    EXPECT_LT(error.size(), 300u);
  }
  EXPECT_GE(seen, 5u);
}

}  // namespace
}  // namespace nyb
