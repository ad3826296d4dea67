// stop_match.cpp - a byte at a time: stop texts are short and few, and the streams slow.
#include "text/stop_match.h"
#include <algorithm>

namespace nyb {

StopMatch::StopMatch(std::vector<std::string> texts) : texts_(std::move(texts)) {
  std::stable_sort(texts_.begin(), texts_.end(), [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
}

std::string StopMatch::push(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) {
    if (matched()) break;
    held_ += c;
    for (const std::string& t : texts_) {
      if (!held_.ends_with(t)) continue;
      match_ = t;
      held_.resize(held_.size() - t.size());
      out += held_;
      held_.clear();
      break;
    }
    // What stays held is the longest end of it that begins a stop text.
    size_t keep = 0;
    for (const std::string& t : texts_)
      for (size_t n = std::min(t.size() - 1, held_.size()); n > keep; n--)
        if (held_.ends_with(std::string_view(t).substr(0, n))) keep = n;
    out.append(held_, 0, held_.size() - keep);
    held_.erase(0, held_.size() - keep);
  }
  return out;
}

std::string StopMatch::flush() {
  std::string rest;
  rest.swap(held_);
  return rest;
}

}  // namespace nyb
