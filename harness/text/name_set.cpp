#include "text/name_set.h"

#include <algorithm>
#include <functional>

namespace nyb {

void NameSet::add(std::string_view name, int32_t id) {
  ids_.emplace(name, id);
  auto& lengths = lengths_[static_cast<unsigned char>(name[0])];
  const auto at = std::lower_bound(lengths.begin(), lengths.end(), name.size(), std::greater<>());
  if (at == lengths.end() || *at != name.size()) lengths.insert(at, name.size());
}

NameSet::Found NameSet::at(std::string_view text, size_t at) const {
  for (const size_t n : lengths_[static_cast<unsigned char>(text[at])]) {
    if (n > text.size() - at) continue;
    if (const auto it = ids_.find(text.substr(at, n)); it != ids_.end()) return {it->second, n};
  }
  return {};
}

}  // namespace nyb
