#include "mnm_edit.h"

#include <xxhash.h>

#include <stdexcept>

namespace nyb::test {

size_t MnmEdit::entry(const std::string& name) const {
  for (size_t i = 0; i < table_count(); i++)
    if (name == bytes.data() + entry(i)) return entry(i);
  throw std::logic_error("no tensor " + name);
}

size_t MnmEdit::meta(const std::string& key) const {
  size_t at = meta_offset();
  for (uint64_t i = 0; i < get<uint64_t>(56); i++) {
    const auto len = get<uint32_t>(at);
    if (bytes.substr(at + 24, len) == key) return at;
    at += 24 + len + get<uint64_t>(at + 16);
  }
  throw std::logic_error("no key " + key);
}

size_t MnmEdit::value(const std::string& key) const { return meta(key) + 24 + key.size(); }

MnmEdit& MnmEdit::rehash_header() { return set<uint64_t>(4088, XXH3_64bits(bytes.data(), 4088)); }

MnmEdit& MnmEdit::rehash() {
  const uint64_t room = bytes.size() - 4096, table = get<uint64_t>(40), meta = get<uint64_t>(64);
  if (table <= room && meta <= room - table) set<uint64_t>(88, XXH3_64bits(bytes.data() + 4096, table + meta));
  return rehash_header();
}

MnmEdit& MnmEdit::replace_meta(const std::string& meta, uint64_t count) {
  const uint64_t from = meta_offset(), old_data = data_offset();
  std::string next = bytes.substr(0, from) + meta;
  next.resize((next.size() + 63) / 64 * 64, '\0');
  const uint64_t data = next.size();
  next += bytes.substr(old_data);
  bytes = next;
  set<uint64_t>(16, bytes.size());
  set<uint64_t>(56, count);
  set<uint64_t>(64, meta.size());
  set<uint64_t>(72, data);
  for (size_t i = 0; i < table_count(); i++) set<uint64_t>(entry(i) + 88, get<uint64_t>(entry(i) + 88) + data - old_data);
  return rehash();
}

uint64_t hash_of(const std::string& bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

std::string meta_entry(const std::string& key, uint32_t type, const std::string& value, uint32_t flags) {
  const uint32_t head[4] = {static_cast<uint32_t>(key.size()), type, flags, 0};
  const uint64_t n = value.size();
  return std::string(reinterpret_cast<const char*>(head), 16) + std::string(reinterpret_cast<const char*>(&n), 8) + key + value;
}

}  // namespace nyb::test
