// record_json.h - the events of a record in JSON.
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>
#include "chat/record.h"
#include "text/json_file.h"

namespace nyb {

// Text as a string, or {"hex": ...} where it is not UTF-8: a message may be any bytes.
nlohmann::ordered_json bytes_json(std::string_view text);

nlohmann::ordered_json event_json(const Event& e);

// Throws Error naming the member that is missing or wrong.
Event event_read(const JsonView& v);

// Values of a record. Each throws Error naming it where it is of another type or beyond what it may be.
std::string record_text_of(const JsonView& v);  // as bytes_json has it
uint64_t record_whole(const JsonView& v, uint64_t most = UINT64_MAX);
std::vector<uint64_t> record_hexes(const JsonView& v);  // 16 digits each, one after the other
uint64_t record_hex(const JsonView& v);                 // 16 digits

}  // namespace nyb
