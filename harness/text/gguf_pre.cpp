// gguf_pre.cpp - the table. The names are those that llama.cpp's converter writes; the patterns are those of the models'
// tokenizer.json, which llama.cpp's src/llama-vocab.cpp quotes ("default" is its own).
#include "text/gguf_pre.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "text/regex_import.h"

namespace nyb {
namespace {

constexpr std::string_view kLlama3 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kQwen2 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kQwen35 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kTekken = R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|)"
                                     R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|)"
                                     R"(\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kDigit = R"(\p{N})";
constexpr std::string_view kMarks = R"([\p{P}\$\+<=>\^~\|]+)";
constexpr std::string_view kDigits = R"(\p{N}+)";
constexpr std::string_view kThreeDigits = "[0-9][0-9][0-9]";

}  // namespace

const std::vector<GgufPre>& gguf_pres() {
  static const std::vector<GgufPre> rows = {
      {"default", {kMarks, kGpt2Pattern, kDigits, kThreeDigits}},
      {"gpt-2", {kGpt2Pattern}},
      {"phi-2", {kGpt2Pattern}},
      {"llama-bpe", {kLlama3}, true, true},
      {"llama3", {kLlama3}, true, true},
      {"llama-v3", {kLlama3}, true, true},
      {"dbrx", {kLlama3}},
      {"smaug-bpe", {kLlama3}},
      {"qwen2", {kQwen2}, false, false, true},
      {"deepseek-r1-qwen", {kQwen2}, false, false, true},
      {"stablelm2", {kQwen2}},
      {"qwen35", {kQwen35}},
      {"smollm", {kDigit, kGpt2Pattern}},
      {"starcoder", {kDigit, kGpt2Pattern}},
      {"refact", {kDigit, kGpt2Pattern}},
      {"command-r", {kDigit, kGpt2Pattern}},
      {"tekken", {kTekken}, true, true},
  };
  return rows;
}

const GgufPre* gguf_pre(std::string_view name) {
  const auto it = std::find_if(gguf_pres().begin(), gguf_pres().end(), [&](const GgufPre& p) { return p.name == name; });
  return it == gguf_pres().end() ? nullptr : &*it;
}

std::string gguf_pre_names() {
  std::string out;
  for (const GgufPre& p : gguf_pres()) fmt::format_to(std::back_inserter(out), "{}{}", out.empty() ? "" : ", ", p.name);
  return out;
}

}  // namespace nyb
