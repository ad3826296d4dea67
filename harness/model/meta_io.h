// meta_io.h - metadata as bytes of a model file (docs/model-file.md, "Metadata").
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include "model/meta.h"

namespace nyb {

// The number that stands for a value's type in a file (1: u64 ... 6: list of strings), and its name in messages.
uint32_t meta_type(const MetaValue& v);
const char* meta_type_name(uint32_t type);

// Every entry in ascending order of its key. Throws Error for a key that a file cannot hold.
std::string meta_encode(const Meta& meta);

// The reverse. `count` entries must fill `bytes` exactly, keys strictly ascending; known keys must have their type, unknown
// ones are dropped unless marked required. Throws Error beginning with `where` (the file's name).
Meta meta_decode(std::span<const uint8_t> bytes, uint64_t count, const std::string& where);

// Text of a file made fit for a message: in quotes, cut at 64 bytes, anything but printable ASCII as \xNN.
std::string shown(std::string_view s);

}  // namespace nyb
