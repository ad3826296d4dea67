// sweep_read.cpp - the JSON of sweep_report.cpp, read back with care.
#include "sweep_read.h"
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include "common/app.h"
#include "kern/error.h"
#include "model/json.h"
#include "model/mapped_file.h"

namespace nyb {
namespace {

using nlohmann::json;
constexpr int kMostDeep = 8;
constexpr double kMost = 1e18;  // of a number, and of what 1 is divided by: quotients of two stay finite
constexpr uint64_t kMostBytes = uint64_t{256} << 20;
constexpr size_t kMostRows = 100000, kMostSamples = 1000;

// An object of the file, and where it stands.
struct Part {
  const json& o;
  std::string where;

  [[noreturn]] void fail(const char* key, const std::string& what) const {
    throw Error(fmt::format("{}: {} {}", where, key, what));
  }
  template <class T>
  T need(std::optional<T> v, const char* key) const {
    if (!v) fail(key, "is missing");
    return *std::move(v);
  }
  std::string text(const char* key) const { return need(json_str(o, key, where), key); }
  uint64_t whole(const char* key, uint64_t most) const {
    const uint64_t v = need(json_u64(o, key, where), key);
    if (v > most) fail(key, "is too large");
    return v;
  }
  uint32_t small(const char* key) const { return static_cast<uint32_t>(whole(key, UINT32_MAX)); }
  double number(const char* key) const { return not_negative(need(json_f64(o, key, where), key), key); }
  double number_or_0(const char* key) const { return not_negative(json_f64(o, key, where).value_or(0), key); }
  double not_negative(double v, const char* key) const {
    if (v < 0) fail(key, "is negative");
    if (v > kMost) fail(key, "is too large");
    if (v > 0 && v < 1 / kMost) fail(key, "is too small");
    return v;
  }

  const json& list(const char* key, size_t most) const {
    const auto it = o.find(key);
    if (it == o.end() || !it->is_array()) fail(key, "is no list");
    if (it->size() > most) fail(key, "has too many members");
    return *it;
  }
  std::vector<Part> parts(const char* key) const {
    std::vector<Part> all;
    for (const json& j : list(key, kMostRows)) {
      all.push_back({j, fmt::format("{}: {} {}", where, key, all.size() + 1)});
      if (!j.is_object()) throw Error(all.back().where + " is no object");
    }
    return all;
  }
  std::vector<double> speeds(const char* key) const {
    std::vector<double> all;
    for (const json& j : list(key, kMostSamples)) {
      if (!j.is_number() || !is_speed(j.get<double>())) fail(key, "holds what is no speed, a number above 0");
      all.push_back(j.get<double>());
    }
    if (all.empty()) fail(key, "is empty");
    return all;
  }
};

Machine machine_of(const Part& p) {
  Machine m;
  m.cpu = p.text("cpu");
  m.date = p.text("date");
  m.version = p.text("version");
  m.command = p.text("command");
  m.cpus = p.small("cpus");
  m.last_cache = p.whole("last_cache_bytes", SIZE_MAX);
  m.commit = json_str(p.o, "commit", p.where).value_or("");
  return m;
}

SweepRow row_of(const Part& p) {
  SweepRow r;
  r.model = p.text("model");
  r.type = p.text("type");
  r.load = p.text("load");
  r.params = p.whole("params", UINT64_MAX);
  r.weight_bytes = p.whole("weight_bytes", UINT64_MAX);
  const auto path = path_parse(p.text("kernel"));
  if (!path) p.fail("kernel", "is no kernel path known here");
  r.path = *path;
  r.threads = p.small("threads");
  r.kv = kv_parse(p.text("kv"));
  r.chunk = p.small("chunk");
  r.prompt = p.small("n_prompt");
  r.gen = p.small("n_gen");
  r.depth = p.small("n_depth");
  if ((r.prompt == 0) == (r.gen == 0)) p.fail("n_gen", "and n_prompt: one of them is 0, the other is not");
  r.samples = p.speeds("samples");
  r.macs_per_token = p.number("macs_per_token");
  r.bytes_per_token = p.number_or_0("bytes_per_token");
  r.file_bandwidth = p.number_or_0("read_gb_per_second");
  if (r.prompt || !p.o.contains("read_samples")) return r;  // an earlier version wrote none
  r.reads = p.speeds("read_samples");
  if (r.reads.size() != r.samples.size())
    p.fail("read_samples", fmt::format("has {}, and samples has {}: each sample has one", r.reads.size(), r.samples.size()));
  return r;
}

SweepProbe probe_of(const Part& p) {
  SweepProbe s;
  s.threads = p.small("threads");
  s.kind = p.text("kind");
  s.loop = p.text("loop");
  s.samples = p.speeds("samples");
  s.bytes = json_u64(p.o, "bytes", p.where).value_or(0);
  s.plain = {json_str(p.o, "plain_loop", p.where).value_or("plain C++"), p.number("plain_gb_per_second"),
             p.number_or_0("over_plain")};
  s.weights = json_bool(p.o, "weights", p.where).value_or(true);
  return s;
}

}  // namespace

SavedSweep sweep_parse(std::string_view text, const std::string& where) {
  const json all = json_strict({reinterpret_cast<const uint8_t*>(text.data()), text.size()}, where, kMostDeep);
  if (!all.is_object() || !all.contains("machine") || !all["machine"].is_object() || !all.contains("rows"))
    throw Error(where + ": this is not what perf -o json writes: it has no machine and rows");
  SavedSweep s;
  const Part whole{all, where};
  s.machine = machine_of({all["machine"], where + ": machine"});
  for (const Part& p : whole.parts("rows")) s.sweep.rows.push_back(row_of(p));
  for (const Part& p : whole.parts("read")) s.sweep.probes.push_back(probe_of(p));
  for (const json& j : whole.list("missing", kMostRows))
    if (j.is_string()) s.sweep.missing.push_back(j.get<std::string>());
  return s;
}

SavedSweep sweep_read(const std::string& path) {
  const MappedFile file(path);
  if (file.size() > kMostBytes)
    throw Error(fmt::format("{}: {} are more than a saved sweep has", human_words(path), human_bytes(file.size())));
  return sweep_parse({reinterpret_cast<const char*>(file.data()), file.size()}, human_words(path));
}

}  // namespace nyb
