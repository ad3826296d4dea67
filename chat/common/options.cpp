// options.cpp - checked option values.
#include "common/options.h"
#include <fmt/format.h>
#include <charconv>
#include <CLI/CLI.hpp>
#include <cmath>
#include "common/app.h"

namespace nyb {

std::string alternatives(std::string list) {
  for (size_t at = 0; (at = list.find(", ", at)) != std::string::npos;) list.replace(at, 2, "|");
  return list;
}

std::optional<uint64_t> parse_whole(std::string_view text, uint64_t high) {
  uint64_t v = 0;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), v);
  if (ec != std::errc() || end != text.data() + text.size() || v > high) return std::nullopt;
  return v;
}

CLI::Option* opt_text(CLI::App& app, const std::string& name, const std::function<void(const std::string&)>& set,
                      const std::string& help) {
  const auto checked = [set](const std::string& s) {
    try {
      set(s);
    } catch (const Error& e) { throw CLI::ValidationError(e.what()); }
  };
  return app.add_option_function<std::string>(name, checked, help);
}

CLI::Option* opt_each(CLI::App& app, const std::string& name, const std::function<void(const std::string&)>& set,
                      const std::string& help) {
  return opt_text(app, name, set, help)->trigger_on_parse()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

float read_float(std::string_view name, const std::string& text, float low, float high) {
  const std::string_view digits = text.size() > 1 && text[0] == '+' ? std::string_view(text).substr(1) : std::string_view(text);
  float v = 0;
  const auto [end, ec] = std::from_chars(digits.data(), digits.data() + digits.size(), v);
  if (ec != std::errc() || end != digits.data() + digits.size() || !std::isfinite(v) || v < low || v > high)
    throw Error(fmt::format("{} takes a number from {} to {}, not '{}'", name, low, high, human_words(text)));
  return v;
}

uint64_t read_whole_number(std::string_view name, const std::string& text, uint64_t low, uint64_t high) {
  const std::optional<uint64_t> v = parse_whole(text, high);
  if (!v || *v < low)
    throw Error(fmt::format("{} takes a whole number from {} to {}, not '{}'", name, low, high, human_words(text)));
  return *v;
}

CLI::Option* opt_whole(CLI::App& app, const std::string& name, uint64_t low, uint64_t high,
                       const std::function<void(uint64_t)>& set, const std::string& help) {
  const auto read = [=](const std::string& s) { set(read_whole_number(name, s, low, high)); };
  return opt_text(app, name, read, help)->type_name("N");
}

}  // namespace nyb
