// json.cpp - JSON values with where they stand, so that what is wrong can be named.
#include "model/json.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <set>
#include <vector>

#include "kern/error.h"
#include "model/meta_io.h"

namespace nyb {
namespace {
using nlohmann::json;

const json* member(const json& o, const char* key) {
  const auto it = o.find(key);
  return it == o.end() || it->is_null() ? nullptr : &*it;
}

[[noreturn]] void wrong(const json& v, const char* key, const std::string& where, const char* want) {
  throw Error(fmt::format("{}: {} is {} where {} belongs", where, key,
                          shown(v.dump(-1, ' ', false, json::error_handler_t::replace)), want));
}

}  // namespace

json json_strict(std::span<const uint8_t> bytes, const std::string& where, int max_depth) {
  std::vector<std::set<std::string>> keys;  // of the objects that are open; lists have an empty set
  std::string last_key;
  const auto look = [&](int depth, json::parse_event_t event, json& v) {
    if (depth > max_depth) throw Error(fmt::format("{}: the JSON is nested more than {} deep", where, max_depth));
    switch (event) {
      case json::parse_event_t::object_start:
      case json::parse_event_t::array_start: keys.emplace_back(); break;
      case json::parse_event_t::object_end:
      case json::parse_event_t::array_end: keys.pop_back(); break;
      case json::parse_event_t::key:
        last_key = v.get_ref<const std::string&>();
        if (!keys.back().insert(v.get_ref<const std::string&>()).second)
          throw Error(fmt::format("{}: the key {} is there twice", where, shown(v.get_ref<const std::string&>())));
        break;
      case json::parse_event_t::value: break;
    }
    return true;
  };
  try {
    return json::parse(bytes.begin(), bytes.end(), look);
  } catch (const json::parse_error& e) {
    throw Error(fmt::format("{}: this is not valid JSON (at byte {} of {})", where, e.byte, bytes.size()));
  } catch (const json::out_of_range&) {  // a number is all that parsing finds out of range
    throw Error(fmt::format("{}: the number of the key {} is beyond what a double holds", where, shown(last_key)));
  } catch (const json::exception& e) { throw Error(fmt::format("{}: this JSON cannot be read: {}", where, e.what())); }
}

std::optional<uint64_t> json_u64(const json& o, const char* key, const std::string& where) {
  const json* v = member(o, key);
  if (!v) return std::nullopt;
  if (!v->is_number_unsigned()) wrong(*v, key, where, "a whole number from 0");
  return v->get<uint64_t>();
}

std::optional<double> json_f64(const json& o, const char* key, const std::string& where) {
  const json* v = member(o, key);
  if (!v) return std::nullopt;
  if (!v->is_number()) wrong(*v, key, where, "a number");
  return v->get<double>();
}

std::optional<bool> json_bool(const json& o, const char* key, const std::string& where) {
  const json* v = member(o, key);
  if (!v) return std::nullopt;
  if (!v->is_boolean()) wrong(*v, key, where, "true or false");
  return v->get<bool>();
}

std::optional<std::string> json_str(const json& o, const char* key, const std::string& where) {
  const json* v = member(o, key);
  if (!v) return std::nullopt;
  if (!v->is_string()) wrong(*v, key, where, "a string");
  return v->get<std::string>();
}

}  // namespace nyb
