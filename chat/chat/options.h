// options.h - what the command line of chat says.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>
#include "chat/settings.h"
#include "common/cli.h"
#include "engine/engine.h"
#include "text/template.h"

namespace nyb {

// Guessing what comes next from what was said (engine/draft.h): where it saves time, wherever it can, never.
enum class Speculate : uint8_t { automatic, on, off };
std::string_view speculate_name(Speculate s);  // as --speculate takes it

struct ChatOptions {
  std::string model;                         // empty: the built-in one
  std::optional<std::string> message, file;  // -p, -f
  std::optional<std::vector<int32_t>> ids;   // --ids
  std::string system, logits, eval, kernel;
  std::string save, load, replay;  // conversations kept in files
  TemplateOptions tmpl{today(), {}};
  Settings set;
  uint32_t ctx = 0, chunk = EngOptions{}.chunk, threads = 0;
  uint32_t logprobs = 0;  // the likeliest tokens of each position, in the JSON
  KvType kv = KvType::f32;
  LoadMode load_mode = LoadMode::map;
  Speculate speculate = Speculate::automatic;
  bool stats = false;
  bool raw = false, quiet = false, json = false, fingerprint = false, verify = false;
  bool no_edit = false, no_history = false;  // at the prompt

  // One message, not a conversation.
  bool single() const { return message || file || ids; }
  // Throws UsageError for options that contradict each other.
  void check() const;
};

void chat_options(CLI::App& app, ChatOptions& o);

// "1,2,3": throws Error naming what is no token id.
std::vector<int32_t> parse_ids(std::string_view text);

}  // namespace nyb
