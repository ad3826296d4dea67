// Chat templates in Go's form: the pieces that Ollama puts together.
#include "text/go_template.h"

#include <gtest/gtest.h>

#include <map>

#include "chat_templates.h"
#include "support/data.h"
#include "support/hf_folder.h"
#include "text/template.h"
#include "text_support.h"

namespace nyb::test {
namespace {

// After what stands before the first message.
std::string turns(const std::string& ask, const std::string& reply, const std::string& next) {
  return "{{ range $i, $_ := .Messages }}{{ $last := eq (len (slice $.Messages $i)) 1 }}{{ if eq .Role \"user\" }}{{ .Content }}"
         "{{ if $last }}" +
         ask + "{{ else }}" + reply + "{{ end }}{{ else if eq .Role \"assistant\" }}{{ .Content }}{{ if not $last }}" + next +
         "{{ end }}{{ end }}{{ end }}";
}

TEST(GoTemplate, Pocket) {
  const GoTemplate t = go_template(pocket_config()["chat_template"].get<std::string>(), pocket());
  EXPECT_EQ(t.notes, "");
  EXPECT_EQ(t.text, "{{ if .System }}<|system|>{{ .System }}<|end|><|user|>{{ else }}<|user|>{{ end }}" +
                        turns("<|end|><|assistant|>", "<|end|><|assistant|>", "<|end|><|user|>"))
      << "BOS is the tokenizer's";
}

// A system message of its own where none is given, line ends, and what Go would take for an action.
TEST(GoTemplate, ADefaultSystemMessageAndBraces) {
  const GoTemplate t = go_template(
      "{% if messages[0]['role'] != 'system' %}{{ '<|system|>Be {{ kind }}.\\n' }}{% endif %}"
      "{% for m in messages %}{{ '[' + m['role'] + ']\\n' + m['content'] + '<|end|>\\n' }}{% endfor %}"
      "{% if add_generation_prompt %}{{ '[assistant]\\n' }}{% endif %}",
      pocket());
  EXPECT_EQ(t.notes, "");
  EXPECT_EQ(
      t.text,
      "{{ if .System }}[system]\n{{ .System }}<|end|>\n[user]\n{{ else }}<|system|>Be {{ \"{{\" }} kind }}.\n[user]\n{{ end }}" +
          turns("<|end|>\n[assistant]\n", "<|end|>\n[assistant]\n", "<|end|>\n[user]\n"));
}

// No role for a system message: it is said.
TEST(GoTemplate, WithoutASystemMessage) {
  const GoTemplate t = go_template(
      "{% for m in messages %}{% if m['role'] == 'user' %}{{ '[INST] ' + m['content'] + ' [/INST]' }}"
      "{% elif m['role'] == 'assistant' %}{{ m['content'] + '<|end|>' }}{% else %}{{ raise_exception('no') }}{% endif %}{% endfor "
      "%}",
      pocket());
  EXPECT_NE(t.notes.find("a system message has no place of its own"), std::string::npos);
  EXPECT_EQ(t.text, "[INST] " + turns(" [/INST]", " [/INST]", "<|end|>[INST] "));
}

TEST(GoTemplate, WhatDependsOnMoreIsAnError) {
  for (const char* jinja : {"{% for m in messages %}{{ loop.index0 ~ m['content'] }}{% endfor %}",
                            "{% for m in messages %}{{ m['content'] if loop.first else m['role'] }}{% endfor %}",
                            "{% for m in messages %}{{ '<' + m['role'] + '>' + m['content'] | upper }}{% endfor %}",
                            "{% for m in messages %}{{ m['content'] }}{% endfor %}{{ messages | length }}"})
    EXPECT_TRUE(says(message_of([&] { go_template(jinja, pocket()); }), "chat template")) << jinja;
}

// Of real ones: Qwen2.5's has a system message where none is given; Qwen3's and Phi's print the end of a conversation in ways of
// their own, but not where a reply is next.
TEST(GoTemplate, OfRealModels) {
  NYB_NEED_DATA();
  std::map<std::string, std::string> begins;
  for (const auto& [name, jinja] : shared_templates()) {
    const std::string text = go_template(jinja, all_families()).text;
    begins[name] = text.substr(0, text.find("{{ range"));
  }
  EXPECT_EQ(
      begins.at("Qwen-Qwen2.5-7B-Instruct"),
      "{{ if .System }}<|im_start|>system\n{{ .System }}<|im_end|>\n<|im_start|>user\n{{ else }}<|im_start|>system\nYou are Qwen, "
      "created by Alibaba Cloud. You are a helpful assistant.<|im_end|>\n<|im_start|>user\n{{ end }}");
  EXPECT_EQ(begins.at("Qwen-Qwen3-0.6B"),
            "{{ if .System }}<|im_start|>system\n{{ .System }}<|im_end|>\n<|im_start|>user\n{{ else }}<|im_start|>user\n{{ end }}");
  EXPECT_EQ(begins.at("microsoft-Phi-3.5-mini-instruct"),
            "{{ if .System }}<|system|>\n{{ .System }}<|end|>\n<|user|>\n{{ else }}<|user|>\n{{ end }}");
}

TEST(GoTemplate, ADateStays) {
  const GoTemplate t = go_template(
      "{{ 'It is ' + strftime_now('%d %b %Y') + '.' }}{% for m in messages %}{{ '<' + m['role'] + '>' + m['content'] }}{% endfor "
      "%}",
      pocket());
  EXPECT_NE(t.notes.find("the date in the chat template stays today's, " + date_text(today())), std::string::npos) << t.notes;
}

}  // namespace
}  // namespace nyb::test
