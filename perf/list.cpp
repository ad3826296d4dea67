// list.cpp - numbers in a row.
#include "list.h"
#include <fmt/format.h>
#include <algorithm>
#include <utility>
#include "common/app.h"
#include "common/options.h"

namespace nyb {
namespace {

constexpr size_t kMost = 1000;

struct Range {
  uint64_t first, last, step;
  bool times;
};

// "A-B", "A-B+S", "A-B*S"; a number alone is its own range.
Range range_of(std::string_view option, const std::string& word, uint32_t low, uint32_t high) {
  const auto number = [&](const std::string& s) { return read_whole_number(option, s, low, high); };
  const size_t dash = word.find('-', 1);
  if (dash == std::string::npos) return {number(word), number(word), 1, false};
  const size_t sign = word.find_first_of("+*", dash);
  Range r{number(word.substr(0, dash)), number(word.substr(dash + 1, sign == std::string::npos ? sign : sign - dash - 1)), 1,
          false};
  if (sign != std::string::npos) {
    r.times = word[sign] == '*';
    r.step = read_whole_number(option, word.substr(sign + 1), r.times ? 2 : 1, UINT32_MAX);
  }
  if (r.last < r.first) throw Error(fmt::format("{}: the range '{}' goes down; write it upwards", option, human_words(word)));
  if (r.times && r.first == 0) throw Error(fmt::format("{}: the range '{}' stays at 0", option, human_words(word)));
  return r;
}

template <class T>
void add_new(std::vector<T>& all, T value) {
  if (std::find(all.begin(), all.end(), value) == all.end()) all.push_back(std::move(value));
}

}  // namespace

std::vector<std::string> read_words(std::string_view option, const std::string& text) {
  std::vector<std::string> all;
  for (size_t at = 0; at <= text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    std::string word = text.substr(at, comma - at);
    if (word.empty()) throw Error(fmt::format("{}: '{}' has an empty part between its commas", option, human_words(text)));
    add_new(all, std::move(word));
    at = comma + 1;
  }
  return all;
}

std::vector<uint32_t> read_list(std::string_view option, const std::string& text, uint32_t low, uint32_t high) {
  std::vector<uint32_t> all;
  for (const std::string& word : read_words(option, text)) {
    const Range r = range_of(option, word, low, high);
    for (uint64_t v = r.first; v <= r.last; v = r.times ? v * r.step : v + r.step) {
      add_new(all, static_cast<uint32_t>(v));
      if (all.size() > kMost) throw Error(fmt::format("{}: '{}' are more than {} numbers", option, human_words(text), kMost));
    }
  }
  return all;
}

}  // namespace nyb
