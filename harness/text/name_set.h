// name_set.h - tokens that a text is searched for, the longest first.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace nyb {

class NameSet {
 public:
  struct Found {
    int32_t id = -1;  // -1: none
    size_t bytes = 0;
  };

  // `name` is not empty and must outlive the set. Of two with one name the first stands.
  void add(std::string_view name, int32_t id);
  bool empty() const { return ids_.empty(); }
  // The longest name that begins at text[at].
  Found at(std::string_view text, size_t at) const;

  // Cuts `text` at its names, from the left: name(id) for each, and rest(text) for what lies between, never empty.
  template <class Rest, class Name>
  void cut(std::string_view text, Rest&& rest, Name&& name) const {
    size_t from = 0;
    const auto flush = [&](size_t to) {
      if (to > from) rest(text.substr(from, to - from));
    };
    for (size_t i = empty() ? text.size() : 0; i < text.size();) {
      const Found found = at(text, i);
      if (found.id < 0) {
        ++i;
        continue;
      }
      flush(i);
      name(found.id);
      from = i += found.bytes;
    }
    flush(text.size());
  }

 private:
  std::unordered_map<std::string_view, int32_t> ids_;
  std::array<std::vector<size_t>, 256> lengths_;  // by first byte, longest first
};

}  // namespace nyb
