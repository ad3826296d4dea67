// options.h - options whose values are numbers or words of a list, checked where they are parsed; the same messages everywhere.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include "common/cli.h"

namespace nyb {

// A whole number in [low, high], decimal.
CLI::Option* opt_whole(CLI::App& app, const std::string& name, uint64_t low, uint64_t high,
                       const std::function<void(uint64_t)>& set, const std::string& help);

// Text that `set` reads; an Error it throws is wrong usage.
CLI::Option* opt_text(CLI::App& app, const std::string& name, const std::function<void(const std::string&)>& set,
                      const std::string& help);

// The same for an option that may be given more than once: `set` reads each.
CLI::Option* opt_each(CLI::App& app, const std::string& name, const std::function<void(const std::string&)>& set,
                      const std::string& help);

// `text` as a number in [low, high], decimal point whatever the locale. Throws Error naming `name` and the text for anything
// else, NaN and infinities too.
float read_float(std::string_view name, const std::string& text, float low, float high);

// The same for a decimal whole number.
uint64_t read_whole_number(std::string_view name, const std::string& text, uint64_t low, uint64_t high);

// "a, b" as the help of an option shows what it takes: a|b. The completion reads it from there.
std::string alternatives(std::string list);

// All of `text` as a decimal whole number up to `high`; nullopt for anything else.
std::optional<uint64_t> parse_whole(std::string_view text, uint64_t high = UINT64_MAX);

}  // namespace nyb
