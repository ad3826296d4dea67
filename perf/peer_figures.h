// peer_figures.h - tokens a second in what another program writes.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>
#include "sweep.h"

namespace nyb {

// A regular expression (PCRE2, of bytes; ^ and $ are the ends of a line) with one group, which holds a number.
class FigurePattern {
 public:
  explicit FigurePattern(const std::string& pattern);  // throws Error: no such expression, or not one group
  ~FigurePattern();
  FigurePattern(const FigurePattern&) = delete;
  FigurePattern& operator=(const FigurePattern&) = delete;
  // nullopt: no match. Throws Error where it matches twice, where the group holds no number above 0, and where it takes too long.
  std::optional<double> find(std::string_view text) const;

 private:
  struct Code;
  std::unique_ptr<Code> code_;
};

// What a program measured; what it does not say fits every row.
struct PeerFigure {
  std::optional<uint32_t> prompt, gen, depth, threads;
  std::optional<Path> path;
  std::optional<std::string> type;
  std::vector<double> samples;  // tokens a second

  bool fits(const SweepRow& r) const;
  std::string name() const;  // "tg64 with 2 threads"
};

// Of the JSON of llama-bench (-o json: n_prompt, n_gen, n_depth, n_threads, samples_ts, avg_ts) or of perf itself (-o json); none
// where the text is neither. Throws Error beginning with `where` for such JSON with something missing.
std::vector<PeerFigure> json_figures(std::string_view text, const std::string& where);

}  // namespace nyb
