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
  // `name` is not empty and must outlive the set. Of two with one name the first stands.
  void add(std::string_view name, int32_t id);
  bool empty() const { return ids_.empty(); }
  // The longest name that begins at text[at]; -1: none.
  int32_t at(std::string_view text, size_t at) const;

 private:
  std::unordered_map<std::string_view, int32_t> ids_;
  std::array<std::vector<size_t>, 256> lengths_;  // by first byte, longest first
};

}  // namespace nyb
