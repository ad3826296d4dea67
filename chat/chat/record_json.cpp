// record_json.cpp - events to JSON and back.
#include "chat/record_json.h"
#include <fmt/format.h>
#include <charconv>
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

Settings settings_read(const RecordReader& o, const std::string& where) {
  Settings s;
  for (const auto& [name, value] : o.object("settings").items()) {
    const Setting* setting = setting_find(name);
    if (!setting || !value.is_string())
      throw Error(fmt::format("{}: '{}' is no setting of this program, or its value is no text", where, human_words(name)));
    try {
      setting->set(s, name, value);
    } catch (const Error& e) { throw Error(fmt::format("{}: {}", where, e.what())); }
  }
  for (const nlohmann::json& t : o.list("stop")) {
    const nlohmann::json wrapped = {{"stop", t}};
    s.stops.push_back(RecordReader(wrapped, where).text("stop"));
    if (s.stops.back().empty()) o.fail("stop", "texts that are not empty");
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

void message_read(const RecordReader& o, const std::string& where, Event& e) {
  e.settings = settings_read(o, where);
  const std::vector<uint64_t> rng = o.hexes("rng");
  if (rng.size() != e.rng.size()) o.fail("rng", "64 digits");
  std::copy(rng.begin(), rng.end(), e.rng.begin());
  const std::string ended = o.text("ended");
  const auto* stop = std::find_if(std::begin(kStops), std::end(kStops), [&](Stop s) { return stop_name(s) == ended; });
  if (stop == std::end(kStops)) o.fail("ended", "a known end of a reply");
  e.stop = *stop;
  e.rereads = o.numbers<uint32_t>("rereads", UINT32_MAX);
  e.fingerprint = o.text("fingerprint");
  e.rows = o.hexes("rows");
  if (e.rows.size() != e.ids.size()) o.fail("rows", "a hash for each of \"ids\"");
  for (const uint32_t n : e.rereads)
    if (n > e.ids.size()) o.fail("rereads", "numbers of ids");
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

Event event_read(const nlohmann::json& j, const std::string& where) {
  const RecordReader o(j, where);
  const std::string name = o.text("do");
  const auto* kind = std::find_if(std::begin(kKinds), std::end(kKinds), [&](const KindName& k) { return name == k.name; });
  if (kind == std::end(kKinds)) o.fail("do", "system, message, given or undo");
  Event e;
  e.kind = kind->kind;
  if (e.kind == Event::Kind::undo) return e;
  if (e.kind == Event::Kind::message && o.has("prompt")) {
    e.prompt = o.numbers<int32_t>("prompt", INT32_MAX);
    if (e.prompt.empty()) o.fail("prompt", "at least one id");
  } else {
    e.text = o.text("text");
  }
  if (e.kind == Event::Kind::system) return e;
  e.reply = o.text("reply");
  e.ids = o.numbers<int32_t>("ids", INT32_MAX);
  if (e.kind == Event::Kind::message) message_read(o, where, e);
  return e;
}

RecordReader::RecordReader(const nlohmann::json& object, std::string where) : o_(object), where_(std::move(where)) {
  if (!o_.is_object()) throw Error(where_ + ": a JSON object is wanted");
}

void RecordReader::fail(const char* key, std::string_view wanted) const {
  throw Error(fmt::format("{}: \"{}\" {}", where_, key, has(key) ? fmt::format("has to be {}", wanted) : "is missing"));
}

const nlohmann::json& RecordReader::at(const char* key, std::string_view wanted) const {
  const auto it = o_.find(key);
  if (it == o_.end()) fail(key, wanted);
  return *it;
}

std::string RecordReader::text(const char* key) const {
  const nlohmann::json& v = at(key, "text");
  if (v.is_string()) return v;
  if (!v.is_object() || v.size() != 1 || !v.contains("hex") || !v["hex"].is_string()) fail(key, "text");
  const std::string& hex = v["hex"].get_ref<const std::string&>();
  std::string bytes;
  for (size_t i = 0; i < hex.size(); i += 2) {
    const std::optional<uint64_t> b = from_hex(std::string_view(hex).substr(i, 2));
    if (!b || hex.size() % 2) fail(key, "text, or bytes of two digits each");
    bytes += static_cast<char>(*b);
  }
  return bytes;
}

uint64_t RecordReader::whole(const char* key, uint64_t most) const {
  const nlohmann::json& v = at(key, "a whole number");
  if (!v.is_number_unsigned() || v.get<uint64_t>() > most) fail(key, fmt::format("a whole number up to {}", most));
  return v;
}

bool RecordReader::flag(const char* key) const {
  const nlohmann::json& v = at(key, "true or false");
  if (!v.is_boolean()) fail(key, "true or false");
  return v;
}

const nlohmann::json& RecordReader::list(const char* key) const {
  const nlohmann::json& v = at(key, "a list");
  if (!v.is_array()) fail(key, "a list");
  return v;
}

const nlohmann::json& RecordReader::object(const char* key) const {
  const nlohmann::json& v = at(key, "an object");
  if (!v.is_object()) fail(key, "an object");
  return v;
}

template <class T>
std::vector<T> RecordReader::numbers(const char* key, uint64_t most) const {
  std::vector<T> all;
  for (const nlohmann::json& v : list(key)) {
    if (!v.is_number_unsigned() || v.get<uint64_t>() > most) fail(key, fmt::format("a list of whole numbers up to {}", most));
    all.push_back(v.get<T>());
  }
  return all;
}

std::vector<uint64_t> RecordReader::hexes(const char* key) const {
  const nlohmann::json& v = at(key, "text");
  if (!v.is_string()) fail(key, "hashes of 16 digits each");
  const std::string_view all = v.get_ref<const std::string&>();
  std::vector<uint64_t> out;
  for (size_t i = 0; i < all.size(); i += kDigits) {
    const std::optional<uint64_t> one = from_hex(all.substr(i, kDigits));
    if (!one || all.size() % kDigits) fail(key, "hashes of 16 digits each");
    out.push_back(*one);
  }
  return out;
}

uint64_t RecordReader::hex(const char* key) const {
  const std::vector<uint64_t> all = hexes(key);
  if (all.size() != 1) fail(key, "16 digits");
  return all[0];
}

}  // namespace nyb
