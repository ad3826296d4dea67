// json_file.h - a JSON file of a model folder, read with care: any content gives a value or one sentence.
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace nyb {

// A value and what to call it in an error: "tokenizer.json: model.vocab".
class JsonView {
 public:
  JsonView(const nlohmann::json& value, std::string name) : value_(&value), name_(std::move(name)) {}

  const nlohmann::json& value() const { return *value_; }
  const std::string& name() const { return name_; }

  // The member of an object; nullopt when absent or null. Throws Error when this is no object.
  std::optional<JsonView> find(std::string_view key) const;
  JsonView get(std::string_view key) const;  // throws Error when absent or null
  JsonView at(size_t index) const;           // of an array; index is below size()
  size_t size() const { return value_->size(); }

  // The value as that type. Throw Error naming it and what it is instead.
  const std::string& string() const;
  bool boolean() const;
  uint32_t id(uint32_t below) const;  // a whole number below `below`
  void need_array() const;
  void need_object() const;

  [[noreturn]] void fail(std::string_view what) const;  // Error "NAME WHAT"

 private:
  const nlohmann::json* value_;
  std::string name_;
};

// The bytes of a file; nullopt when there is no such file. Throws Error: not a regular file, unreadable, above 256 MiB.
std::optional<std::string> text_file(const std::string& path);

// The parsed file; nullopt when there is no such file. Throws Error as text_file and json_strict (model/json.h) do: not JSON,
// nested more than 64 deep, a key twice in one object.
std::optional<nlohmann::json> json_file(const std::string& path);

}  // namespace nyb
