// byte_map.h - GPT-2's alphabet: a printable character for each byte, in which tokenizer.json spells its tokens.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace nyb {

// The bytes that `spelled` stands for; nullopt when a character of it is outside the alphabet or is not UTF-8.
std::optional<std::string> byte_map_decode(std::string_view spelled);

// The other way: each byte as its character, in UTF-8.
std::string byte_map_encode(std::string_view bytes);

}  // namespace nyb
