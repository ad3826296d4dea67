// gguf_pre_of.cpp - the pre-tokenizer of llama.cpp that is a model's own, or the nearest.
#include <fmt/format.h>

#include <array>

#include "kern/printable.h"
#include "text/export_gguf.h"
#include "text/gguf_pre.h"
#include "text/regex_import.h"
#include "text/splitter.h"

namespace nyb {
namespace {

// Where pre-tokenizers differ: digits, contractions, letters of other scripts and their marks, blanks, line ends, marks.
constexpr std::array<std::string_view, 14> kProbes = {
    "1969",       "in 12345 days", "Don't, he'd", "I'LL",           "the end.\n\n\nNext",   "  two  blanks ", "tab\t\tand",
    "naïve café", "नमस्ते दुनिया",    "漢字 かな",   "a_b(c) += d/e;", "HelloWorld camelCase", "!!! ... ???\n",  "3.14 x² ½"};

using Words = std::vector<std::string>;

Words words_of(const Splitter& s, std::string_view text) {
  Words out;
  s.split(text, [&](std::string_view w) { out.emplace_back(w); });
  return out;
}

std::string shown_words(const Words& w) { return printable(fmt::format("{}", fmt::join(w, "|"))); }

}  // namespace

PreChoice gguf_pre_of(const std::vector<std::string>& patterns, bool whole_words) {
  const Splitter own(patterns);
  std::vector<Words> cut;
  for (const std::string_view p : kProbes) cut.push_back(words_of(own, p));
  PreChoice best;
  size_t most = 0;
  for (const GgufPre& row : gguf_pres()) {
    std::vector<std::string> theirs;
    for (const std::string_view p : row.patterns) theirs.push_back(regex_import(p, std::string(row.name)));
    const bool same = theirs == patterns;
    if (same && row.whole_words == whole_words) return {std::string(row.name), ""};
    const Splitter there(theirs);
    size_t alike = same ? kProbes.size() : 0;
    std::string example;
    for (size_t i = 0; i < kProbes.size() && !same; i++) {
      const Words w = words_of(there, kProbes[i]);
      if (w == cut[i])
        alike++;
      else if (example.empty())
        example =
            fmt::format(", where \"{}\" becomes {} instead of {}", printable(kProbes[i]), shown_words(w), shown_words(cut[i]));
    }
    if (alike < most || (alike == most && !best.name.empty())) continue;
    most = alike;
    best.name = row.name;
    if (same)
      best.note = fmt::format("llama.cpp's \"{}\" cuts text as this model does, but takes a word that is a token {}", row.name,
                              whole_words ? "apart and merges it, which may give other tokens" : "whole, without its merges");
    else
      best.note = fmt::format("no pre-tokenizer of llama.cpp cuts text as this model does; it is called \"{}\", the nearest{}",
                              row.name, example);
  }
  return best;
}

}  // namespace nyb
