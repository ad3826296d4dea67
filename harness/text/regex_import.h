// regex_import.h - the pre-tokenizer's pattern, from the dialect of tokenizer.json to PCRE2's.
#pragma once
#include <string>
#include <string_view>

namespace nyb {

// GPT-2's own pattern, which a ByteLevel pre-tokenizer with use_regex stands for.
extern const std::string_view kGpt2Pattern;

// tokenizer.json's patterns are Oniguruma's. What both engines read alike is kept; what they read differently is written
// out (\s and \S as Unicode's White_Space, \v, \uHHHH) or refused: throws Error saying what in `where` is not understood.
std::string regex_import(std::string_view regex, const std::string& where);

// `text`, character by character, as a pattern.
std::string regex_quote(std::string_view text);

}  // namespace nyb
