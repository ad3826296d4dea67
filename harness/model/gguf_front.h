// gguf_front.h - what stands before the data of one GGUF file.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>
#include "model/gguf.h"

namespace nyb {

struct GgufFront {
  std::map<std::string_view, GgufValue> keys;
  std::vector<GgufTensor> tensors;  // in the table's order
};

// Of one file alone, checked as Gguf says.
GgufFront gguf_front(const MappedFile& file);

uint64_t gguf_element_bytes(GgufType t);         // of a type of fixed size; 0 for strings and lists
std::string_view gguf_string(const uint8_t* p);  // a checked one: its length, then its bytes

// A whole number of any of the types, or a boolean; nothing where it is of another type, or a u64 above INT64_MAX.
std::optional<int64_t> gguf_int(GgufType t, const uint8_t* p);

}  // namespace nyb
