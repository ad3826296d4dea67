// json.h - JSON of a model folder, read with care.
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>

namespace nyb {

// Parses `bytes`. Throws Error beginning with `where`: not JSON (with the byte), nested more than `max_depth` deep, a key
// twice in one object. Constant stack whatever the nesting.
nlohmann::json json_strict(std::span<const uint8_t> bytes, const std::string& where, int max_depth);

// A member of an object, by type. Throw Error "WHERE: KEY is ..." naming what it is instead; absent or null gives nullopt.
std::optional<uint64_t> json_u64(const nlohmann::json& o, const char* key, const std::string& where);
std::optional<double> json_f64(const nlohmann::json& o, const char* key, const std::string& where);
std::optional<bool> json_bool(const nlohmann::json& o, const char* key, const std::string& where);
std::optional<std::string> json_str(const nlohmann::json& o, const char* key, const std::string& where);

}  // namespace nyb
