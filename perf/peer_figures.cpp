// peer_figures.cpp - a pattern, or known JSON.
#include "peer_figures.h"
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <array>
#include <charconv>
#include "common/app.h"
#include "kern/error.h"
#include "model/json.h"
#include "sweep_read.h"

namespace nyb {
namespace {

using nlohmann::json;

struct Free {
  void operator()(pcre2_code* p) const { pcre2_code_free(p); }
  void operator()(pcre2_match_data* p) const { pcre2_match_data_free(p); }
  void operator()(pcre2_match_context* p) const { pcre2_match_context_free(p); }
};
template <class T>
using Owned = std::unique_ptr<T, Free>;

constexpr uint32_t kSteps = 10'000'000, kHeapKib = 64 << 10;  // what a match may take
constexpr int kMostDeep = 16;                                 // of JSON

std::string error_text(int code) {
  std::array<unsigned char, 160> text{};
  pcre2_get_error_message(code, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

double number_in(std::string_view group) {
  double v = 0;
  const auto [end, ec] = std::from_chars(group.data(), group.data() + group.size(), v);
  if (ec != std::errc() || end != group.data() + group.size() || !is_speed(v))
    throw Error(
        fmt::format("the group of --peer-pattern holds '{}', no speed (a number above 0)", human_words(group.substr(0, 60))));
  return v;
}

std::vector<PeerFigure> of_llama_bench(const json& list, const std::string& where) {
  std::vector<PeerFigure> all;
  for (const json& j : list) {
    const std::string here = fmt::format("{}: entry {}", where, all.size() + 1);
    if (!j.is_object()) throw Error(here + " is no object");
    const auto small = [&](const char* key) -> std::optional<uint32_t> {
      const std::optional<uint64_t> v = json_u64(j, key, here);
      if (v && *v > UINT32_MAX) throw Error(fmt::format("{}: {} is too large", here, key));
      return v;
    };
    PeerFigure f;
    f.prompt = small("n_prompt");
    f.gen = small("n_gen");
    f.depth = small("n_depth").value_or(0);
    f.threads = small("n_threads");
    if (!f.prompt || !f.gen) throw Error(here + ": n_prompt or n_gen is missing");
    if (const auto it = j.find("samples_ts"); it != j.end() && it->is_array())
      for (const json& v : *it)
        if (v.is_number()) f.samples.push_back(v.get<double>());
    if (f.samples.empty())
      if (const std::optional<double> average = json_f64(j, "avg_ts", here)) f.samples.push_back(*average);
    if (f.samples.empty()) throw Error(here + ": samples_ts and avg_ts are missing");
    for (const double v : f.samples)
      if (!is_speed(v)) throw Error(fmt::format("{}: {} tok/s is no speed", here, v));
    all.push_back(std::move(f));
  }
  return all;
}

std::vector<PeerFigure> of_perf(const Sweep& s) {
  std::vector<PeerFigure> all;
  for (const SweepRow& r : s.rows) all.push_back({r.prompt, r.gen, r.depth, r.threads, r.path, r.type, r.samples});
  return all;
}

}  // namespace

struct FigurePattern::Code {
  Owned<pcre2_code> pattern;
};

FigurePattern::FigurePattern(const std::string& pattern) : code_(std::make_unique<Code>()) {
  int code = 0;
  size_t offset = 0;
  code_->pattern.reset(
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(), PCRE2_MULTILINE, &code, &offset, nullptr));
  if (!code_->pattern)
    throw Error(fmt::format("'{}' is no regular expression: {} (at character {})", human_words(pattern), error_text(code), offset));
  uint32_t groups = 0;
  pcre2_pattern_info(code_->pattern.get(), PCRE2_INFO_CAPTURECOUNT, &groups);
  if (groups != 1)
    throw Error(fmt::format("'{}' has {} groups where one belongs, around the number of tok/s; (?:...) is none",
                            human_words(pattern), groups));
}

FigurePattern::~FigurePattern() = default;

std::optional<double> FigurePattern::find(std::string_view text) const {
  const Owned<pcre2_match_data> data(pcre2_match_data_create(2, nullptr));
  const Owned<pcre2_match_context> context(pcre2_match_context_create(nullptr));
  if (!data || !context) throw std::bad_alloc();
  pcre2_set_match_limit(context.get(), kSteps);
  pcre2_set_heap_limit(context.get(), kHeapKib);
  std::optional<double> found;
  for (size_t at = 0; at <= text.size();) {
    const int rc =
        pcre2_match(code_->pattern.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), at, 0, data.get(), context.get());
    if (rc == PCRE2_ERROR_NOMATCH) break;
    if (rc < 0) throw Error(fmt::format("--peer-pattern does not get through what the peer wrote: {}", error_text(rc)));
    if (found) throw Error("--peer-pattern fits in more than one place of what the peer wrote; make it fit in one");
    const size_t* const place = pcre2_get_ovector_pointer(data.get());
    found = number_in(rc < 2 || place[2] == PCRE2_UNSET ? std::string_view() : text.substr(place[2], place[3] - place[2]));
    at = std::max(place[1], at + 1);
  }
  return found;
}

bool PeerFigure::fits(const SweepRow& r) const {
  const auto same = [](const auto& mine, const auto& other) { return !mine || *mine == other; };
  return same(prompt, r.prompt) && same(gen, r.gen) && same(depth, r.depth) && same(threads, r.threads) && same(path, r.path) &&
         same(type, r.type);
}

std::string PeerFigure::name() const {
  std::string s;
  if (prompt.value_or(0)) s += fmt::format("pp{}", *prompt);
  if (gen.value_or(0)) s += fmt::format("{}tg{}", s.empty() ? "" : "+", *gen);
  if (depth.value_or(0)) s += fmt::format(" @ d{}", *depth);
  if (threads) s += fmt::format(" with {} thread{}", *threads, *threads == 1 ? "" : "s");
  if (path) s += fmt::format(" on {}", path_name(*path));
  if (type) s += fmt::format(" in {}", human_words(*type));
  return s;
}

std::vector<PeerFigure> json_figures(std::string_view text, const std::string& where) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  if (text[first] == '{') return of_perf(sweep_parse(text, where).sweep);
  if (text[first] != '[') return {};
  return of_llama_bench(json_strict({reinterpret_cast<const uint8_t*>(text.data()), text.size()}, where, kMostDeep), where);
}

}  // namespace nyb
