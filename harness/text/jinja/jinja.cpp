// jinja.cpp - a template run from its first statement on.
#include "text/jinja/jinja.h"

namespace nyb::jinja {

Value value_of(Heap& h, const nlohmann::ordered_json& j, Origin origin) {
  if (j.is_boolean()) return j.get<bool>();
  if (j.is_number()) return Number{j.get<double>(), j.is_number_integer()};
  if (j.is_string()) return h.text(Marked(j.get_ref<const std::string&>(), origin));
  if (j.is_array()) {
    std::vector<Value> items;
    for (const auto& item : j) items.push_back(value_of(h, item, origin));
    return h.array(std::move(items));
  }
  if (!j.is_object()) return None{};
  Dict* d = h.dict();
  for (const auto& [key, value] : j.items()) d->put(Marked(key, origin), value_of(h, value, origin));
  return d;
}

Marked Template::render(Heap& heap, const std::vector<std::pair<std::string_view, Value>>& variables, const Moment& now) const {
  Interp in(heap, now);
  Scope* all = heap.scope(nullptr);
  for (const auto& [name, value] : variables) all->put(name, value);
  Marked out;
  in.run(body_, *all, out);
  return out;
}

}  // namespace nyb::jinja
