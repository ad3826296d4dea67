// settings.h - what shapes a reply and may change between two of them: options of the command line, and the names of /set.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>
#include "common/cli.h"
#include "engine/sampler.h"

namespace nyb {

struct Settings {
  SampParams samp;
  uint32_t max = 400;              // most tokens of a reply
  std::vector<std::string> stops;  // texts that end a reply; none is empty
  std::optional<uint64_t> seed;    // none: a random one
};

struct Setting {
  std::string name;  // "top-p": --top-p and /set top-p
  std::string value, help;
  bool many = false;  // each use adds a value
  // Throws Error naming the setting as `name`, the way the user wrote it.
  std::function<void(Settings&, const std::string& name, const std::string& text)> set;
  std::function<std::string(const Settings&)> get;
};

// All of them, in the order in which --help and /show have them.
const std::vector<Setting>& setting_list();

// nullptr: no setting has that name.
const Setting* setting_find(std::string_view name);

// Adds --NAME for each.
void setting_options(CLI::App& app, Settings& s);

}  // namespace nyb
