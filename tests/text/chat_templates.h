// chat_templates.h - templates that the tests render: the shared ones, and small ones in the manner of well-known families.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "text/tokenizer.h"

namespace nyb::test {

// Names and texts of small ones: each has a turn of its own (a frame of specials, blanks trimmed, roles that must alternate, the
// system text within the first message, macros, the date).
std::vector<std::pair<std::string, std::string>> own_templates();
// Those of ../shared/data/chat-templates; none where it is absent.
std::vector<std::pair<std::string, std::string>> shared_templates();

// What the families of all these write as specials.
const std::vector<std::string>& family_specials();
// A tokenizer of bytes (and of "es", "bl" and " Y", ids 256 to 258) in which each of these is one. BOS is <s>, which it does not
// put there itself, EOS </s>.
constexpr uint32_t kFirstSpecial = 259;
const Tokenizer& all_families();

}  // namespace nyb::test
