// functions.cpp - the methods of texts and dicts, and the functions of all templates.
#include <fmt/format.h>

#include <algorithm>

#include "text/jinja/interp.h"
#include "text/jinja/lexer.h"
#include "text/jinja/lists.h"
#include "text/jinja/texts.h"

namespace nyb::jinja {
namespace {

constexpr std::string_view kOfTexts[] = {"upper",  "lower", "title",      "capitalize", "strip",  "lstrip",
                                         "rstrip", "split", "startswith", "endswith",   "replace"};
constexpr std::string_view kOfDicts[] = {"get", "items", "keys", "values", "dictsort"};
constexpr std::string_view kGlobals[] = {"namespace", "range", "raise_exception", "strftime_now"};

template <class List>
std::string_view own_name(const List& list, std::string_view name) {
  for (const std::string_view known : list)
    if (known == name) return known;
  return {};
}

// Whether the text begins, or ends, with the argument or with one of its list.
bool is_at_end(Interp& in, const Marked& t, std::string_view name, const Value* what) {
  const auto fits = [&](const Value& v) {
    const std::string& part = in.text(&v, "what a text begins or ends with").str();
    return name == "startswith" ? t.str().starts_with(part) : t.str().ends_with(part);
  };
  const Array* several = what ? array_of(*what) : nullptr;
  if (!several) return fits(what ? *what : Value());
  in.h.spend(several->items.size());
  for (const Value& v : several->items)
    if (fits(v)) return true;
  return false;
}

// The characters that strip and its like are told to take are not looked at: all white space goes, as in the reference.
Value text_method(Interp& in, const Marked& t, std::string_view name, const Args& args) {
  Heap& h = in.h;
  h.spend_text(t.size());
  if (name == "upper") return h.text(upper(t));
  if (name == "lower") return h.text(lower(t));
  if (name == "title") return h.text(title(t));
  if (name == "capitalize") return h.text(capital(t));
  if (name == "strip") return h.text(trimmed(t));
  if (name == "lstrip") return h.text(trimmed(t, true, false));
  if (name == "rstrip") return h.text(trimmed(t, false, true));
  if (name == "replace") {
    const Marked &what = in.text(args.find(0, "old"), "what is replaced"), &with = in.text(args.find(1, "new"), "what replaces it");
    return h.text(replaced(h, t, what, with, in.whole_number(args.find(2, "count"), "the count of \"replace\"")));
  }
  if (name == "split") {
    const Value* at = args.find(0, "sep");
    const bool blank = !at || is_none(*at);
    if (!blank && in.text(at, "where a text is split").empty()) h.fail("a text is split at nothing");
    return h.array(split(h, t, blank ? nullptr : text_of(*at), in.whole_number(args.find(1, "maxsplit"), "maxsplit")));
  }
  return is_at_end(in, t, name, args.find(0, "prefix"));
}

Value dict_method(Interp& in, Dict& d, std::string_view name, const Args& args) {
  Heap& h = in.h;
  h.spend(1 + d.members.size() / 8);
  if (name == "get") {
    const Value *found = d.find(in.text(args.find(0, "key"), "the key").str()), *other = args.find(1, "default");
    return found ? *found : other ? *other : None{};
  }
  if (name == "dictsort") return sorted_pairs(in, d, args);
  std::vector<Value> out;
  for (const auto& [key, value] : d.members) {
    if (name == "values") {
      out.push_back(value);
    } else {
      out.push_back(name == "keys" ? h.text(key) : h.array({h.text(key), value}));
    }
  }
  return h.array(std::move(out));
}

Value make_namespace(Interp& in, const Args& args) {
  Dict* made = in.h.dict(true);
  const auto put = [&](const Marked& key, const Value& v) {
    in.h.spend(2 + made->members.size() / 8);
    made->put(key, v);
  };
  if (args.plain.size() > 1) in.h.fail("namespace takes one dict at most");
  if (!args.plain.empty()) {
    const Dict* d = dict_of(args.plain[0]);
    if (!d) in.h.fail(fmt::format("namespace is made of {}, not of a dict", kind_of(args.plain[0])));
    for (const auto& [key, v] : d->members) put(key, v);
  }
  for (const auto& [key, v] : args.named) put(Marked(key), v);
  return made;
}

Value range(Interp& in, const Args& args) {
  const auto number = [&](size_t i, const char* name) { return in.whole_number(args.find(i, name), "an end of range"); };
  const std::optional<long> a = number(0, "start"), b = number(1, "stop");
  if (!a) in.h.fail("range takes a whole number");
  const long from = b ? *a : 0, to = b ? *b : *a, step = number(2, "step").value_or(1);
  if (step == 0) in.h.fail("range takes steps of 0");
  std::vector<Value> out;
  for (long i = from; step > 0 ? i < to : i > to; i += step) {
    in.h.spend(1);
    out.push_back(whole(static_cast<double>(i)));
  }
  return in.h.array(std::move(out));
}

}  // namespace

std::string_view Interp::method_name(const Value& self, std::string_view name) {
  if (text_of(self)) return own_name(kOfTexts, name);
  const Dict* d = dict_of(self);
  return d && !d->is_namespace ? own_name(kOfDicts, name) : std::string_view();
}

Value Interp::method(const Value& self, std::string_view name, const Args& args) {
  if (const Marked* t = text_of(self)) return text_method(*this, *t, name, args);
  Dict* d = dict_of(self);
  if (!d) h.fail(fmt::format("{} has no method \"{}\"", kind_of(self), shown(name)));
  return dict_method(*this, *d, name, args);
}

bool Interp::is_global(std::string_view name) { return !own_name(kGlobals, name).empty(); }

Value Interp::global(std::string_view name, const Args& args) {
  if (name == "namespace") return make_namespace(*this, args);
  if (name == "range") return range(*this, args);
  if (name == "strftime_now") return strftime(text(args.find(0, "format"), "the format of strftime_now"));
  const Value* message = args.find(0, "message");
  h.fail(fmt::format("the template refuses the conversation: {}", message ? joined_text(h, *message).str() : ""));
}

Value Interp::strftime(const Marked& format) {
  constexpr const char* months[] = {"January", "February", "March",     "April",   "May",      "June",
                                    "July",    "August",   "September", "October", "November", "December"};
  h.spend_text(4 * format.size());
  const std::string_view month = months[static_cast<size_t>(now_.month - 1)];
  const std::pair<char, std::string> parts[] = {{'Y', fmt::format("{}", now_.year)},
                                                {'m', fmt::format("{:02}", now_.month)},
                                                {'d', fmt::format("{:02}", now_.day)},
                                                {'b', std::string(month.substr(0, 3))},
                                                {'B', std::string(month)},
                                                {'H', fmt::format("{:02}", now_.hour)},
                                                {'M', fmt::format("{:02}", now_.minute)},
                                                {'%', "%"}};
  Marked out;
  for (size_t i = 0; i < format.size(); ++i) {
    const char next = format.str()[i] == '%' && i + 1 < format.size() ? format.str()[i + 1] : '\0';
    const auto* part = std::find_if(std::begin(parts), std::end(parts), [&](const auto& p) { return p.first == next; });
    if (next == '\0' || part == std::end(parts)) {
      out.add(format, i, 1);
      continue;
    }
    out.add(format.sub(i, 1).mapped([&](std::string_view) { return part->second; }));
    ++i;
  }
  return h.text(std::move(out));
}

}  // namespace nyb::jinja
