// record.cpp - records as files. One event a line, so that two of them can be compared with common tools.
#include "chat/record.h"
#include <fmt/format.h>
#include <sys/stat.h>
#include <xxhash.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include "chat/record_json.h"
#include "chat/report.h"
#include "common/app.h"
#include "common/input.h"
#include "model/json.h"
#include "model/out_file.h"
#include "text/template.h"

namespace nyb {
namespace {

using json = nlohmann::ordered_json;

constexpr std::string_view kOpening = "{\n \"nybble_conversation\": ";
constexpr uint32_t kVersion = 1;
constexpr std::string_view kBeforeHash = " \"hash\": \"", kAfterHash = "\"\n}\n";
constexpr size_t kHashDigits = 16;
constexpr unsigned kPrivate = 0600;  // what was said is nobody else's business

std::string hash_of(std::string_view text) { return hex16(XXH3_64bits(text.data(), text.size())); }

// Whether the hash at the end is that of what is before it.
bool is_untouched(std::string_view text) {
  const size_t tail = kBeforeHash.size() + kHashDigits + kAfterHash.size();
  if (text.size() < tail) return false;
  const size_t at = text.size() - tail;
  return text.substr(at, kBeforeHash.size()) == kBeforeHash && text.ends_with(kAfterHash) &&
         text.substr(at + kBeforeHash.size(), kHashDigits) == hash_of(text.substr(0, at));
}

bool begins_as_record(const std::string& path) {
  std::string begin(kOpening.size(), '\0');
  std::ifstream(path, std::ios::binary).read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return begin == kOpening;
}

}  // namespace

std::string record_text(const Record& r) {
  std::string s = fmt::format("{}{},\n", kOpening, kVersion);
  const auto member = [&s](const char* name, const json& value) { s += fmt::format(" \"{}\": {},\n", name, value.dump()); };
  member("program", program_version());
  member("model", bytes_json(r.model));
  member("name", bytes_json(r.name));
  member("checksum", hex16(r.checksum));
  member("kv", kv_name(r.kv));
  member("ctx", r.ctx);
  member("raw", r.raw);
  if (!r.date.empty()) member("date", bytes_json(r.date));
  if (!r.variables.empty()) {
    json all = json::array();
    for (const auto& [name, value] : r.variables) all.push_back({bytes_json(name), bytes_json(value)});
    member("template", all);
  }
  member("kernel", r.kernel);
  member("threads", r.threads);
  s += " \"events\": [";
  for (size_t i = 0; i < r.events.size(); ++i) s += fmt::format("{}\n  {}", i ? "," : "", event_json(r.events[i]).dump());
  s += r.events.empty() ? "],\n" : "\n ],\n";
  return s + fmt::format("{}{}{}", kBeforeHash, hash_of(s), kAfterHash);
}

Record record_read(const std::string& path) {
  const std::string text = read_whole(path);
  const std::string where = fmt::format("'{}' is not a saved conversation", path);
  const nlohmann::json j = json_strict({reinterpret_cast<const uint8_t*>(text.data()), text.size()}, where, 8);
  const JsonView o(j, where + ":");
  if (const uint64_t v = record_whole(o.get("nybble_conversation")); v != kVersion)
    throw Error(fmt::format("'{}' is a saved conversation of version {}; this program reads version {}", path, v, kVersion));
  Record r;
  r.model = record_text_of(o.get("model"));
  if (r.model.find('\0') != std::string::npos) o.get("model").fail("is no name of a file");
  r.name = record_text_of(o.get("name"));
  r.checksum = record_hex(o.get("checksum"));
  try {
    r.kv = kv_parse(o.get("kv").string());
  } catch (const Error& e) { throw Error(fmt::format("{}: {}", where, e.what())); }
  r.ctx = static_cast<uint32_t>(record_whole(o.get("ctx"), UINT32_MAX));
  if (r.ctx == 0) o.get("ctx").fail("is 0");
  r.raw = o.get("raw").boolean();
  if (const auto date = o.find("date")) {
    r.date = record_text_of(*date);
    try {
      (void)date_parse(r.date);
    } catch (const Error& e) { throw Error(fmt::format("{}: {}", where, e.what())); }
  }
  if (const auto all = o.find("template")) {
    all->need_array();
    for (size_t i = 0; i < all->size(); ++i) {
      const JsonView pair = all->at(i);
      pair.need_array();
      if (pair.size() != 2) pair.fail("is no name with a value");
      r.variables.emplace_back(record_text_of(pair.at(0)), record_text_of(pair.at(1)));
    }
  }
  r.kernel = record_text_of(o.get("kernel"));
  r.threads = static_cast<uint32_t>(record_whole(o.get("threads"), UINT32_MAX));
  const JsonView events = o.get("events");
  events.need_array();
  for (size_t i = 0; i < events.size(); ++i) r.events.push_back(event_read(events.at(i)));
  r.changed = !is_untouched(text);
  return r;
}

void record_check(const std::string& path) {
  struct stat st {};
  if (stat(path.c_str(), &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 && !begins_as_record(path))
    throw Error(fmt::format("'{}' is there and is not a saved conversation, so it is not replaced; give another name", path));
  const OutFile probe(path, kPrivate);
}

void record_write(const std::string& path, const Record& r) { write_whole(path, record_text(r), kPrivate); }

}  // namespace nyb
