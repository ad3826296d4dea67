// mnm_edit.h - changes bytes of a model file and makes its checksums right again, so that the check behind them is reached.
// Written from docs/model-file.md, without the project's own constants.
#pragma once
#include <cstdint>
#include <cstring>
#include <string>

namespace nyb::test {

struct MnmEdit {
  std::string bytes;

  template <class T>
  T get(size_t at) const {
    T v;
    std::memcpy(&v, bytes.data() + at, sizeof v);
    return v;
  }
  template <class T>
  MnmEdit& set(size_t at, T v) {
    std::memcpy(bytes.data() + at, &v, sizeof v);
    return *this;
  }

  uint64_t table_count() const { return get<uint64_t>(32); }
  uint64_t meta_offset() const { return get<uint64_t>(48); }
  uint64_t data_offset() const { return get<uint64_t>(72); }
  size_t entry(size_t i) const { return 4096 + 128 * i; }
  size_t entry(const std::string& name) const;  // offset of that tensor's entry
  size_t meta(const std::string& key) const;    // offset of that key's entry
  size_t value(const std::string& key) const;   // and of its value

  MnmEdit& rehash();  // table and metadata, then header
  MnmEdit& rehash_header();
  // Replaces the metadata, moves the tensors and fixes every offset and checksum.
  MnmEdit& replace_meta(const std::string& meta, uint64_t count);
  std::string meta_text() const { return bytes.substr(meta_offset(), get<uint64_t>(64)); }
};

uint64_t hash_of(const std::string& bytes);  // XXH3-64
std::string meta_entry(const std::string& key, uint32_t type, const std::string& value, uint32_t flags = 0);

}  // namespace nyb::test
