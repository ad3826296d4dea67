// typed.h - the bytes of a terminal as characters of the line editor, and back, without loss.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace nyb {

// A byte that is part of no character stands for itself as U+DC00 + byte, which no UTF-8 gives; so do the control characters
// U+0080 to U+009F, since the editor takes those for keys.
constexpr wchar_t kByte = 0xDC00;

// The character at the front of `bytes`, which are not empty. Returns how many bytes it takes; 0: they are the beginning of one.
size_t typed_front(std::string_view bytes, wchar_t& c);

// All of a text; NUL becomes kByte + 0, for the editor's strings end at it.
std::wstring typed_wide(std::string_view bytes);

// The bytes again: typed_bytes(typed_wide(s)) == s for every s.
std::string typed_bytes(std::wstring_view text);

// The rows below the first that a terminal of `columns` needs up to the end of `text`, which follows a prompt of `indent` columns.
int typed_rows(std::wstring_view text, int indent, int columns);

// What stands at the front of `keys` and came in one piece: lines that arrived together, as of a paste into a terminal that
// does not mark one. Returns its length without the newline that ends it; 0: the keys are to be taken one by one.
size_t typed_lines(std::string_view keys);

// Line ends as a terminal pastes them (CR, CRLF) become newlines.
std::string typed_newlines(std::string_view text);

}  // namespace nyb
