// options.h - what the command line of chat says.
#pragma once
#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>
#include "engine/engine.h"
#include "engine/sampler.h"

namespace nyb {

struct ChatOptions {
  std::string model;                         // empty: the built-in one
  std::optional<std::string> message, file;  // -p, -f
  std::optional<std::vector<int32_t>> ids;   // --ids
  std::string system, logits, eval, kernel;
  SampParams samp;
  std::optional<uint64_t> seed;
  uint32_t max = 400, ctx = 0, chunk = 32, threads = 0;
  KvType kv = KvType::f32;
  bool raw = false, quiet = false, json = false, fingerprint = false, verify = false;

  // One message, not a conversation.
  bool single() const { return message || file || ids; }
  // Throws UsageError for options that contradict each other.
  void check() const;
};

void chat_options(CLI::App& app, ChatOptions& o);

// "1,2,3": throws Error naming what is no token id.
std::vector<int32_t> parse_ids(std::string_view text);

}  // namespace nyb
