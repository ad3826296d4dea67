#include "chat_templates.h"

#include <algorithm>
#include <filesystem>

#include "support/data.h"
#include "text_support.h"

namespace nyb::test {

std::vector<std::pair<std::string, std::string>> own_templates() {
  return {
      {"pocket", pocket_config().at("chat_template")},
      {"chatml",
       "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\\n'}}{% "
       "endfor "
       "%}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"},
      // the system text goes into the first message; roles must alternate; blanks leave
      {"inst",
       R"({%- set first = messages[0] %}
{%- if first.role == 'system' %}
  {%- set rest = messages[1:] %}
  {%- set system = '<<SYS>>\n' + first.content | trim + '\n<</SYS>>\n\n' %}
{%- else %}
  {%- set rest = messages %}{% set system = '' %}
{%- endif %}
{%- for m in rest %}
  {%- if (m.role == 'user') != (loop.index0 % 2 == 0) %}
    {{- raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}
  {%- endif %}
  {%- if m.role == 'user' %}
    {{- bos_token + '[INST] ' + (system if loop.first else '') + m.content.strip() + ' [/INST]' }}
  {%- else %}
    {{- ' ' + m.content.strip() + ' ' + eos_token }}
  {%- endif %}
{%- endfor %})"},
      // no system role; another name for the assistant
      {"turns",
       R"({{ bos_token }}{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}
{% for message in messages %}
{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception("roles must alternate") }}{% endif %}
{% set role = 'model' if message['role'] == 'assistant' else message['role'] %}
{{ '<start_of_turn>' + role + '\n' + message['content'] | trim + '<end_of_turn>\n' }}
{% endfor %}
{% if add_generation_prompt %}{{ '<start_of_turn>model\n' }}{% endif %})"},
      // the date, a default, a macro, a system text that is always there
      {"header",
       R"({%- macro header(role, more='') -%}<|start_header_id|>{{ role }}{{ more }}<|end_header_id|>

{% endmacro -%}
{{- bos_token }}
{%- if not date_string is defined %}{% set date_string = strftime_now("%d %b %Y") %}{% endif %}
{%- set system = messages[0]['content'] | trim if messages and messages[0]['role'] == 'system' else "" %}
{%- if system or not messages %}{% set messages = messages[1:] %}{% endif %}
{{- header('system') + "Today Date: " ~ date_string ~ "\n\n" ~ system ~ "<|eot_id|>" }}
{%- for message in messages if message.role != 'system' %}
{{- header(message.role, more='') + message.content | trim + '<|eot_id|>' }}
{%- else %}
{{- 'nothing was said' }}
{%- endfor %}
{%- if add_generation_prompt %}
{{- header('assistant') }}
{%- endif %})"},
      // what an old reply thought is left out
      {"thinks",
       R"({%- set ns = namespace(last=-1) -%}
{%- for m in messages %}{% if m.role == 'user' %}{% set ns.last = loop.index0 %}{% endif %}{% endfor -%}
{%- for m in messages -%}
<|{{ m.role }}|>
{%- set text = m.content -%}
{%- if m.role == 'assistant' and '</think>' in text and loop.index0 < ns.last %}
{%- set text = text.split('</think>')[-1].lstrip('\n') %}
{%- endif -%}
{% generation %}{{ text }}{% endgeneration %}<|end|>
{%- endfor -%}
{%- if add_generation_prompt -%}<|assistant|>{% if enable_thinking is defined and not enable_thinking %}<think></think>{% endif %}
{%- endif -%})"},
  };
}

std::vector<std::pair<std::string, std::string>> shared_templates() {
  std::vector<std::pair<std::string, std::string>> all;
  if (data_dir().empty()) return all;
  for (const auto& entry : std::filesystem::directory_iterator(data_dir() / "chat-templates"))
    if (entry.path().extension() == ".jinja") all.emplace_back(entry.path().stem().string(), read_file(entry.path()));
  std::sort(all.begin(), all.end());
  return all;
}

const std::vector<std::string>& family_specials() {
  static const std::vector<std::string> all = {"<|bos|>",
                                               "<|user|>",
                                               "<|assistant|>",
                                               "<|system|>",
                                               "<|end|>",
                                               "<|im_start|>",
                                               "<|im_end|>",
                                               "<s>",
                                               "</s>",
                                               "[INST]",
                                               "[/INST]",
                                               "[SYSTEM_PROMPT]",
                                               "[/SYSTEM_PROMPT]",
                                               "<start_of_turn>",
                                               "<end_of_turn>",
                                               "<|start_header_id|>",
                                               "<|end_header_id|>",
                                               "<|eot_id|>",
                                               "<|begin_of_text|>",
                                               "<|endoftext|>",
                                               "[gMASK]",
                                               "<sop>",
                                               "<|observation|>",
                                               "<think>",
                                               "</think>",
                                               "<tool_call>",
                                               "<tool_response>",
                                               "<|begin\u2581of\u2581sentence|>",
                                               "<\uff5cUser\uff5c>",
                                               "<\uff5cAssistant\uff5c>",
                                               "<\uff5cend\u2581of\u2581sentence\uff5c>"};
  return all;
}

const Tokenizer& all_families() {
  static const auto tok = [] {
    nlohmann::json j = made_up_bpe({{'e', 's'}, {'b', 'l'}, {' ', 'Y'}});
    uint32_t id = kFirstSpecial;
    for (const std::string& name : family_specials())
      j["added_tokens"].push_back({{"id", id++}, {"content", name}, {"special", true}});
    Meta m;
    tok_import_hf(folder_with(j, {{"bos_token", "<s>"}, {"eos_token", "</s>"}, {"add_bos_token", false}}).string(), id, m);
    return Tokenizer::from_meta(m);
  }();
  return *tok;
}

}  // namespace nyb::test
