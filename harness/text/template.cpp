// template.cpp - conversations printed by their template, and the ids of what it prints.
#include "text/template.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <ctime>

#include "kern/error.h"
#include "model/json.h"
#include "text/jinja/jinja.h"
#include "text/jinja/lexer.h"

namespace nyb {
namespace {

using jinja::Marked;

constexpr jinja::Origin kVariable = UINT32_MAX;  // of what the options say, which is plain text too

std::string_view part_of(std::string_view s, size_t from, size_t to) { return s.substr(from, to - from); }

// The bytes from..to of a reply's content, as its ids; where they begin or end within one, that part of it as text.
void add_sampled(const Message& m, size_t from, size_t to, std::vector<TextPart>& parts) {
  const auto begin_of = [&](size_t i) { return i == 0 ? 0 : m.ends[i - 1]; };
  size_t first = 0;
  while (first < m.ids.size() && begin_of(first) < from) ++first;
  size_t last = first;  // behind the last whole one; one that spells nothing goes with what is after it
  while (last < m.ids.size() && m.ends[last] <= to && (begin_of(last) < to || to == m.content.size())) ++last;
  if (first >= last) return void(parts.push_back({part_of(m.content, from, to), true, {}}));
  if (from < begin_of(first)) parts.push_back({part_of(m.content, from, begin_of(first)), true, {}});
  parts.push_back({{}, true, std::span(m.ids).subspan(first, last - first)});
  if (m.ends[last - 1] < to) parts.push_back({part_of(m.content, m.ends[last - 1], to), true, {}});
}

// "false" and "[1, 2]" are what they are in JSON, "hello" is a text.
jinja::Value variable_of(jinja::Heap& heap, const std::string& text) {
  constexpr int kMostDepth = 16;
  try {
    (void)json_strict({reinterpret_cast<const uint8_t*>(text.data()), text.size()}, "", kMostDepth);
  } catch (const Error&) { return heap.text(Marked(text, kVariable)); }
  return jinja::value_of(heap, nlohmann::ordered_json::parse(text), kVariable);
}

bool has_part_of(const Marked& text, jinja::Origin origin) {
  return std::any_of(text.runs().begin(), text.runs().end(), [&](const Marked::Run& r) { return r.origin == origin; });
}

}  // namespace

Message reply_message(const Tokenizer& tok, int32_t before, std::vector<int32_t> ids) {
  Message m{"assistant", {}, std::move(ids), {}};
  for (const int32_t id : m.ids) {
    m.content += tok.is_special(id) ? tok.name(id) : tok.bytes_after(before, id);
    m.ends.push_back(m.content.size());
    before = id;
  }
  return m;
}

Date today() {
  const std::time_t now = std::time(nullptr);
  std::tm t{};
  localtime_r(&now, &t);
  return {t.tm_year + 1900, t.tm_mon + 1, t.tm_mday};
}

Date date_parse(std::string_view text) {
  Date d;
  const auto number = [&](size_t from, size_t size, int& v) {
    const std::string_view digits = text.substr(std::min(from, text.size()), size);
    return digits.size() == size && digits.find_first_not_of("0123456789") == digits.npos &&
           std::from_chars(digits.data(), digits.data() + size, v).ec == std::errc();
  };
  const bool form =
      text.size() == 10 && text[4] == '-' && text[7] == '-' && number(0, 4, d.year) && number(5, 2, d.month) && number(8, 2, d.day);
  const std::chrono::year_month_day day{std::chrono::year(d.year), std::chrono::month(static_cast<unsigned>(d.month)),
                                        std::chrono::day(static_cast<unsigned>(d.day))};
  if (!form || !day.ok()) throw Error(fmt::format("a date is written as 2026-07-31; '{}' is none", jinja::shown(text)));
  return d;
}

std::string date_text(const Date& d) { return fmt::format("{:04}-{:02}-{:02}", d.year, d.month, d.day); }

ChatTemplate ChatTemplate::parse(std::string_view source, const Tokenizer& tok, TemplateOptions options) {
  ChatTemplate t;
  t.tok_ = &tok;
  t.template_ = std::make_shared<jinja::Template>(source);
  t.options_ = std::move(options);
  t.tells_date_ = source.find("strftime_now") != source.npos;
  const Message hello{"user", "Hello", {}, {}};
  if (!has_part_of(t.print({&hello, 1}, true), 1)) throw Error("the chat template prints nothing of what a user says");
  return t;
}

Marked ChatTemplate::print(std::span<const Message> messages, bool reply_next) const {
  jinja::Heap heap;
  std::vector<jinja::Value> list;
  for (size_t i = 0; i < messages.size(); ++i) {
    const Message& m = messages[i];
    if (m.role != "system" && m.role != "user" && m.role != "assistant")
      throw Error(fmt::format("the role of a message is \"{}\"; system, user and assistant are known", jinja::shown(m.role)));
    jinja::Dict* d = heap.dict();
    d->put(Marked("role"), heap.text(m.role));
    d->put(Marked("content"), heap.text(Marked(m.content, static_cast<jinja::Origin>(i + 1))));
    list.emplace_back(d);
  }
  const auto name = [&](std::optional<int32_t> id) { return id ? std::string(tok_->name(*id)) : std::string(); };
  std::vector<std::pair<std::string_view, jinja::Value>> variables = {{"messages", heap.array(std::move(list))},
                                                                      {"add_generation_prompt", reply_next},
                                                                      {"bos_token", heap.text(name(tok_->bos()))},
                                                                      {"tools", jinja::None{}},
                                                                      {"documents", jinja::None{}}};
  // The file may know a set of ends, and not which of them the source calls eos_token: then it is undefined.
  if (tok_->eos() || tok_->ends().empty()) variables.emplace_back("eos_token", heap.text(name(tok_->eos())));
  for (const auto& [key, value] : options_.variables) variables.emplace_back(key, variable_of(heap, value));
  const Date& d = options_.date;
  return template_->render(heap, variables, {d.year, d.month, d.day, 0, 0});
}

void ChatTemplate::encode(const Marked& text, size_t from, std::span<const Message> messages, Told& told) const {
  std::vector<TextPart> parts;
  size_t begin = 0;
  for (const Marked::Run& run : text.runs()) {
    const size_t at = std::max(begin, from);
    if (at < run.end) {
      const Message* m = run.origin == 0 || run.origin == kVariable ? nullptr : &messages[run.origin - 1];
      if (m && !m->ids.empty() && run.offset != Marked::kChanged) {
        add_sampled(*m, run.offset + (at - begin), run.offset + (run.end - begin), parts);
      } else {
        parts.push_back({part_of(text.str(), at, run.end), run.origin != 0, {}});
      }
    }
    begin = run.end;
  }
  tok_->encode_parts(parts, told.ids, told.sampled);
}

Told ChatTemplate::tell(std::span<const Message> messages, bool reply_next) const {
  const Marked text = print(messages, reply_next);
  Told told;
  told.text = text.str();
  encode(text, 0, messages, told);
  const std::optional<int32_t> bos = tok_->bos();
  if (!bos) return told;
  const auto other = std::find_if(told.ids.begin(), told.ids.end(), [&](int32_t id) { return id != *bos; });
  const auto there = other - told.ids.begin();
  if (there == 0 && tok_->add_bos()) {
    told.ids.insert(told.ids.begin(), *bos);
    told.sampled.insert(told.sampled.begin(), false);
  } else if (there > 1) {
    told.ids.erase(told.ids.begin() + 1, other);
    told.sampled.erase(told.sampled.begin() + 1, told.sampled.begin() + there);
  }
  return told;
}

Told ChatTemplate::follow(const Told& before, const Message& reply, std::span<const Message> messages, bool reply_next) const {
  const Marked text = print(messages, reply_next);
  const std::string_view all = text.str();
  if (!all.starts_with(before.text) || !all.substr(before.text.size()).starts_with(reply.content))
    return tell(messages, reply_next);
  Told told = before;
  told.text = text.str();
  told.ids.insert(told.ids.end(), reply.ids.begin(), reply.ids.end());
  told.sampled.resize(told.ids.size(), true);
  encode(text, before.text.size() + reply.content.size(), messages, told);
  return told;
}

void ChatTemplate::check_system(const std::string& text) const {
  const Message both[] = {{"system", text, {}, {}}, {"user", "Hello", {}, {}}};
  Marked with;
  try {
    with = print(both, true);
  } catch (const Error& e) { throw Error(fmt::format("the model takes no system message: {}", e.what())); }
  if (!has_part_of(with, 1) && with == print(std::span(both).subspan(1), true))
    throw Error("the model takes no system message: its chat template leaves it out");
}

std::optional<int32_t> ChatTemplate::reply_end() const {
  const Message both[] = {{"user", "Hello", {}, {}}, reply_message(*tok_, -1, tok_->encode("Hello"))};
  const Told told = tell(both, false);
  const auto from = std::find(told.sampled.rbegin(), told.sampled.rend(), true).base() - told.sampled.begin();
  const auto end = std::find_if(told.ids.begin() + from, told.ids.end(), [&](int32_t id) { return tok_->is_special(id); });
  return from == 0 || end == told.ids.end() ? std::nullopt : std::optional(*end);
}

}  // namespace nyb
