// settings.cpp - the one list of them.
#include "chat/settings.h"
#include <fmt/format.h>
#include <algorithm>
#include <CLI/CLI.hpp>
#include "common/app.h"
#include "common/options.h"

namespace nyb {
namespace {

Setting number(std::string name, float SampParams::*field, float low, float high, std::string help) {
  return {std::move(name),
          "X",
          std::move(help),
          false,
          [=](Settings& s, const std::string& n, const std::string& text) { s.samp.*field = read_float(n, text, low, high); },
          [=](const Settings& s) { return fmt::format("{}", s.samp.*field); }};
}

Setting whole(std::string name, const std::function<uint32_t&(Settings&)>& field, std::string help) {
  return {std::move(name),
          "N",
          std::move(help),
          false,
          [=](Settings& s, const std::string& n, const std::string& text) {
            field(s) = static_cast<uint32_t>(read_whole_number(n, text, 0, UINT32_MAX));
          },
          [=](const Settings& s) {
            Settings copy = s;
            return fmt::format("{}", field(copy));
          }};
}

Setting seed() {
  return {"seed",
          "N",
          "Same seed, same text (default: a random one, printed)",
          false,
          [](Settings& s, const std::string& n, const std::string& text) { s.seed = read_whole_number(n, text, 0, UINT64_MAX); },
          [](const Settings& s) { return s.seed ? fmt::format("{}", *s.seed) : std::string(); }};
}

// "\n" is written with two characters on a command line as well as at the prompt.
std::string unescaped(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const char next = text[i] == '\\' && i + 1 < text.size() ? text[i + 1] : '\0';
    const char c = next == 'n' ? '\n' : next == 't' ? '\t' : next == '\\' ? '\\' : '\0';
    out += c ? c : text[i];
    i += c != '\0';
  }
  return out;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '\n' ? "\\n" : c == '\t' ? "\\t" : c == '\\' ? "\\\\" : std::string(1, c);
  return out;
}

Setting stop() {
  return {"stop",
          "TEXT",
          "A text that ends the reply and is not shown; \\n is a new line (may be given several times)",
          true,
          [](Settings& s, const std::string& n, const std::string& text) {
            const std::string t = unescaped(text);
            if (t.empty()) throw Error(fmt::format("{} takes a text, not nothing", n));
            if (std::find(s.stops.begin(), s.stops.end(), t) == s.stops.end()) s.stops.push_back(t);
          },
          [](const Settings& s) {
            std::string all;
            for (const std::string& t : s.stops) all += fmt::format("{}\"{}\"", all.empty() ? "" : " ", human_words(escaped(t)));
            return all;
          }};
}

}  // namespace

const std::vector<Setting>& setting_list() {
  static const std::vector<Setting> all = {
      number("temp", &SampParams::temp, 0, 1000, "Temperature; 0 takes the likeliest token"),
      number("top-p", &SampParams::top_p, 0, 1, "Keep the likeliest tokens up to this share"),
      whole(
          "top-k", [](Settings& s) -> uint32_t& { return s.samp.top_k; }, "Keep this many; 0 keeps all"),
      number("min-p", &SampParams::min_p, 0, 1, "Drop tokens less likely than this share of the likeliest"),
      number("repeat-penalty", &SampParams::repeat_penalty, kLeastPenalty, kGreatestPenalty,
             "Above 1: make the last tokens less likely"),
      whole(
          "repeat-last-n", [](Settings& s) -> uint32_t& { return s.samp.repeat_last_n; },
          "How many of the last tokens; 0: none, 4294967295: all of the context"),
      seed(),
      whole(
          "max", [](Settings& s) -> uint32_t& { return s.max; }, "Most tokens of a reply"),
      stop()};
  return all;
}

const Setting* setting_find(std::string_view name) {
  const auto& all = setting_list();
  const auto it = std::find_if(all.begin(), all.end(), [&](const Setting& s) { return s.name == name; });
  return it == all.end() ? nullptr : &*it;
}

void setting_options(CLI::App& app, Settings& s) {
  for (const Setting& setting : setting_list()) {
    const std::string option = "--" + setting.name;
    const auto set = [&s, &setting, option](const std::string& text) { setting.set(s, option, text); };
    CLI::Option* o = setting.many ? opt_each(app, option, set, setting.help) : opt_text(app, option, set, setting.help);
    o->type_name(setting.value)->group("Sampling");
    if (const std::string preset = setting.get(s); !preset.empty()) o->default_str(preset);
  }
}

}  // namespace nyb
