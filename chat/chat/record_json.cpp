// record_json.cpp - events to JSON and back.
#include "chat/record_json.h"
#include <fmt/format.h>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include "chat/report.h"
#include "common/app.h"
#include "text/utf8.h"

namespace nyb {
namespace {

using json = nlohmann::ordered_json;

constexpr size_t kDigits = 16;

std::optional<uint64_t> from_hex(std::string_view s) {
  uint64_t v = 0;
  const auto [end, ec] = std::from_chars(s.data(), s.data() + s.size(), v, 16);
  if (ec != std::errc() || end != s.data() + s.size()) return std::nullopt;
  return v;
}

struct KindName {
  Event::Kind kind;
  const char* name;
};
constexpr KindName kKinds[] = {
    {Event::Kind::system, "system"}, {Event::Kind::message, "message"}, {Event::Kind::given, "given"}, {Event::Kind::undo, "undo"}};

constexpr Stop kStops[] = {Stop::end, Stop::text, Stop::max, Stop::context, Stop::interrupted};

json settings_json(const Settings& s) {
  json j = json::object();
  for (const Setting& setting : setting_list())
    if (!setting.many && setting.name != "seed") j[setting.name] = setting.get(s);
  return j;
}

template <class T>
std::vector<T> numbers(const JsonView& v, uint64_t most) {
  v.need_array();
  std::vector<T> all;
  for (size_t i = 0; i < v.size(); ++i) all.push_back(static_cast<T>(record_whole(v.at(i), most)));
  return all;
}

Settings settings_read(const JsonView& v) {
  Settings s;
  const JsonView settings = v.get("settings");
  settings.need_object();
  for (const auto& [name, value] : settings.value().items()) {
    const Setting* setting = setting_find(name);
    if (!setting || !value.is_string())
      settings.fail(fmt::format("has '{}', which is no setting of this program, or whose value is no text", name));
    try {
      setting->set(s, name, value);
    } catch (const Error& e) { settings.fail(fmt::format("is wrong: {}", e.what())); }
  }
  const JsonView stop = v.get("stop");
  stop.need_array();
  for (size_t i = 0; i < stop.size(); ++i) {
    s.stops.push_back(record_text_of(stop.at(i)));
    if (s.stops.back().empty()) stop.at(i).fail("is empty");
  }
  return s;
}

json message_json(const Event& e) {
  json j;
  j["settings"] = settings_json(e.settings);
  j["stop"] = json::array();
  for (const std::string& t : e.settings.stops) j["stop"].push_back(bytes_json(t));
  std::string rng, rows;
  for (const uint64_t v : e.rng) rng += hex16(v);
  for (const uint64_t v : e.rows) rows += hex16(v);
  j["rng"] = rng;
  j["ended"] = stop_name(e.stop);
  j["reply"] = bytes_json(e.reply);
  j["ids"] = e.ids;
  j["rereads"] = e.rereads;
  j["fingerprint"] = e.fingerprint;
  j["rows"] = rows;
  return j;
}

void message_read(const JsonView& v, Event& e) {
  e.settings = settings_read(v);
  const std::vector<uint64_t> rng = record_hexes(v.get("rng"));
  if (rng.size() != e.rng.size()) v.get("rng").fail("has not 64 digits");
  std::copy(rng.begin(), rng.end(), e.rng.begin());
  const std::string& ended = v.get("ended").string();
  const auto* stop = std::find_if(std::begin(kStops), std::end(kStops), [&](Stop s) { return stop_name(s) == ended; });
  if (stop == std::end(kStops)) v.get("ended").fail(fmt::format("is '{}', which is no end of a reply", ended));
  e.stop = *stop;
  e.rereads = numbers<uint32_t>(v.get("rereads"), e.ids.size());
  e.fingerprint = v.get("fingerprint").string();
  e.rows = record_hexes(v.get("rows"));
  if (e.rows.size() != e.ids.size()) v.get("rows").fail(fmt::format("has {} hashes for {} ids", e.rows.size(), e.ids.size()));
}

}  // namespace

json bytes_json(std::string_view text) {
  if (utf8_valid(text)) return std::string(text);
  std::string hex;
  for (const char c : text) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return {{"hex", hex}};
}

json event_json(const Event& e) {
  json j;
  for (const KindName& k : kKinds)
    if (k.kind == e.kind) j["do"] = k.name;
  if (e.kind == Event::Kind::undo) return j;
  if (e.prompt.empty())
    j["text"] = bytes_json(e.text);
  else
    j["prompt"] = e.prompt;
  if (e.kind == Event::Kind::given) {
    j["reply"] = bytes_json(e.reply);
    j["ids"] = e.ids;
  } else if (e.kind == Event::Kind::message) {
    j.update(message_json(e));
  }
  return j;
}

Event event_read(const JsonView& v) {
  const std::string& name = v.get("do").string();
  const auto* kind = std::find_if(std::begin(kKinds), std::end(kKinds), [&](const KindName& k) { return name == k.name; });
  if (kind == std::end(kKinds)) v.get("do").fail(fmt::format("is '{}', not system, message, given or undo", name));
  Event e;
  e.kind = kind->kind;
  if (e.kind == Event::Kind::undo) return e;
  if (const auto prompt = e.kind == Event::Kind::message ? v.find("prompt") : std::nullopt) {
    e.prompt = numbers<int32_t>(*prompt, INT32_MAX);
    if (e.prompt.empty()) prompt->fail("is empty");
  } else {
    e.text = record_text_of(v.get("text"));
  }
  if (e.kind == Event::Kind::system) return e;
  e.reply = record_text_of(v.get("reply"));
  e.ids = numbers<int32_t>(v.get("ids"), INT32_MAX);
  if (e.kind == Event::Kind::message) message_read(v, e);
  return e;
}

std::string record_text_of(const JsonView& v) {
  if (!v.value().is_object()) return v.string();
  const std::string& hex = v.get("hex").string();
  std::string bytes;
  for (size_t i = 0; i < hex.size(); i += 2) {
    const std::optional<uint64_t> b = from_hex(std::string_view(hex).substr(i, 2));
    if (!b || hex.size() % 2) v.fail("has a \"hex\" that is not two digits for each byte");
    bytes += static_cast<char>(*b);
  }
  return bytes;
}

uint64_t record_whole(const JsonView& v, uint64_t most) {
  if (!v.value().is_number_unsigned() || v.value().get<uint64_t>() > most) v.fail(fmt::format("is no whole number up to {}", most));
  return v.value().get<uint64_t>();
}

std::vector<uint64_t> record_hexes(const JsonView& v) {
  const std::string_view all = v.string();
  std::vector<uint64_t> out;
  for (size_t i = 0; i < all.size(); i += kDigits) {
    const std::optional<uint64_t> one = from_hex(all.substr(i, kDigits));
    if (!one || all.size() % kDigits) v.fail("has no hashes of 16 digits each");
    out.push_back(*one);
  }
  return out;
}

uint64_t record_hex(const JsonView& v) {
  const std::vector<uint64_t> all = record_hexes(v);
  if (all.size() != 1) v.fail("has not 16 digits");
  return all[0];
}

}  // namespace nyb
