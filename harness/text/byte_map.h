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

// Bytes that the vocabulary of a byte-level BPE may lack, as those of StarCoder and its like do: C0, C1 and F5 to FF are in no
// UTF-8 text; F1 to F4 begin characters from U+40000 on, where none but private ones are assigned.
constexpr bool byte_is_rare(unsigned char b) { return b == 0xc0 || b == 0xc1 || b >= 0xf1; }

}  // namespace nyb
