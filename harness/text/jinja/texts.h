// texts.h - what filters and methods do to texts; all of it keeps where each byte came from.
#pragma once
#include <cstddef>
#include <optional>
#include <vector>
#include "text/jinja/value.h"

namespace nyb::jinja {

Marked upper(const Marked& s);
Marked lower(const Marked& s);
Marked title(const Marked& s);    // the first letter of each word large, the others as they are
Marked capital(const Marked& s);  // the first letter large
Marked trimmed(const Marked& s, bool left = true, bool right = true);
// At most `most` of them, from the left. "" is found before each character and at the end.
Marked replaced(Heap& h, const Marked& s, const Marked& what, const Marked& with, std::optional<long> most);
Marked indented(Heap& h, const Marked& s, size_t width, bool first, bool blank);
// Cut at each `at`, or where it is null at white space; at most `most` cuts.
std::vector<Value> split(Heap& h, const Marked& s, const Marked* at, std::optional<long> most);

}  // namespace nyb::jinja
