// nfc.h - Unicode's Normalization Form C, which some tokenizers put a text into before they cut it.
#pragma once
#include <string>
#include <string_view>

namespace nyb {

// NFC of `text` (Unicode Standard Annex 15), by utf8proc's tables: composed where a composed character exists, marks in the order
// of their classes. What is not UTF-8 stays, and parts the text: nothing composes across it. O(n log n) time, constant stack.
std::string nfc(std::string_view text);

}  // namespace nyb
