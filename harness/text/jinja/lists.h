// lists.h - the filters of lists.
#pragma once
#include <string_view>
#include "text/jinja/interp.h"

namespace nyb::jinja {

using ListFilter = Value (*)(Interp&, const Value&, const Args&);
ListFilter list_filter(std::string_view name);  // nullptr: there is none of this name

// The member at a path such as "function.name" or "items.0"; undefined where there is none.
Value attribute_of(Heap& h, const Value& of, std::string_view path);

// The list of [key, value] pairs of a dict, sorted: dictsort's arguments are case_sensitive, by ("key" or "value"), reverse.
Value sorted_pairs(Interp& in, const Dict& d, const Args& args);

}  // namespace nyb::jinja
