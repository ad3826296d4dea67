// record_json.h - the events of a record in JSON.
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>
#include "chat/record.h"

namespace nyb {

// Text as a string, or {"hex": ...} where it is not UTF-8: a message may be any bytes.
nlohmann::ordered_json bytes_json(std::string_view text);

nlohmann::ordered_json event_json(const Event& e);

// Throws Error beginning with `where`.
Event event_read(const nlohmann::json& j, const std::string& where);

// The members of an object, each checked: what is missing or of another type is an Error beginning with `where`.
class RecordReader {
 public:
  RecordReader(const nlohmann::json& object, std::string where);
  bool has(const char* key) const { return o_.contains(key); }
  std::string text(const char* key) const;  // as bytes_json has it
  uint64_t whole(const char* key, uint64_t most = UINT64_MAX) const;
  uint64_t hex(const char* key) const;  // 16 digits
  bool flag(const char* key) const;
  const nlohmann::json& list(const char* key) const;
  const nlohmann::json& object(const char* key) const;
  // numbers of a list, each from 0 to `most`
  template <class T>
  std::vector<T> numbers(const char* key, uint64_t most) const;
  std::vector<uint64_t> hexes(const char* key) const;  // 16 digits each, one after the other
  [[noreturn]] void fail(const char* key, std::string_view wanted) const;

 private:
  const nlohmann::json& at(const char* key, std::string_view wanted) const;
  const nlohmann::json& o_;
  std::string where_;
};

}  // namespace nyb
