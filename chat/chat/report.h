// report.h - what is said of a reply after it: the grey line, the fingerprint, the JSON object.
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include "chat/reply.h"
#include "chat/runtime.h"

namespace nyb {

// One line: prompt tokens and rate, reply tokens and rate, weights read per second and the share of what only reading
// them gives, what was read again, context used, seed.
std::string stats_line(const Runtime& r, const Reply& reply, uint64_t seed);

// The hash with what it depends on: the file's checksum and the cache's type.
std::string fingerprint_line(const Runtime& r, const std::string& hex);

// One JSON object in one line; valid whatever the text and the file's name are.
std::string reply_json(const Runtime& r, const ChatOptions& o, const Reply& reply, uint64_t seed);

// Adds the model, its file, and what it ran on.
void json_describe(nlohmann::ordered_json& j, const Runtime& r);
// In one line; valid also where a text or a file's name is not UTF-8.
std::string json_line(const nlohmann::ordered_json& j);

// A note for the person at the terminal, on stderr: grey where there is colour.
void note(const std::string& line);

std::string hex16(uint64_t v);  // 16 lower-case digits

}  // namespace nyb
