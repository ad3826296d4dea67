// report.cpp - the answer in words and in JSON. GB are 10^9 bytes, GiB 2^30.
#include <fmt/format.h>
#include <algorithm>
#include <nlohmann/json.hpp>
#include "common/app.h"
#include "fit/fit.h"

namespace nyb {
namespace {

using json = nlohmann::ordered_json;

std::string gb(uint64_t bytes) { return fmt::format("{:.2f}", static_cast<double>(bytes) * 1e-9); }
std::string gib(uint64_t bytes) { return fmt::format("{:.2f} GiB", static_cast<double>(bytes) / (1 << 30)); }

std::string left_words(const MemoryLeft& left) {
  if (left.bytes == UINT64_MAX) return "this system does not say how much memory is free";
  return fmt::format("free here: {} ({})", human_bytes(left.bytes), gib(left.bytes)) +
         (left.group_limit ? fmt::format(", by the control group's limit of {}", human_bytes(left.group_limit)) : "");
}

// What of the depths needs a word: where the context ends before them, and that windows are counted.
std::string depth_words(const Fit& f) {
  const ModelShape& s = f.model.shape;
  std::string t;
  if (f.depths.back() == s.ctx - 1) t += fmt::format("at {}: the last position of its context of {}", s.ctx - 1, s.ctx);
  if (!f.beyond.empty()) t += fmt::format("; {} {} beyond it", fmt::join(f.beyond, " and "), f.beyond.size() == 1 ? "is" : "are");
  if (!t.empty()) t += "\n";
  if (const auto n = std::count_if(s.windows.begin(), s.windows.end(), [](uint32_t w) { return w != 0; }))
    t += fmt::format("{} of {} layers look back over a window of at most {} positions, which the tok/s count\n", n, s.layers,
                     *std::max_element(s.windows.begin(), s.windows.end()));
  return t;
}

}  // namespace

std::string fit_text(const Fit& f) {
  const ModelShape& s = f.model.shape;
  const FitSpeeds& speeds = f.speeds;
  std::string t = fmt::format("{}: {}, {} parameters, {} layers, context {}\n", human_words(f.model.name), f.model.kind,
                              human_count(s.params), s.layers, s.ctx);
  t += left_words(f.left) + "\n";
  if (speeds.read > 0)
    t += fmt::format(
        "reading gives {:.1f} GB/s with {} thread{}, which allows the tok/s below at most; tok/s is what the products of {} get\n",
        speeds.read, f.plan.threads, f.plan.threads == 1 ? "" : "s", speeds.path);
  t += fmt::format("KV cache in {}: {} bytes a position;", kv_name(f.plan.kv), f.kv_per_position);
  for (const uint32_t c : f.contexts)
    t += fmt::format(" {} at {}{}", human_bytes(c * f.kv_per_position), c, c == f.contexts.back() ? "\n" : ",");
  t += depth_words(f);
  size_t width = 14;
  for (const FitRow& r : f.rows) width = std::max(width, r.type.size());
  t += fmt::format("\n{:{}} {:>10} {:>10} {:>10} {:>10}  {:4} {:>9}", fmt::format("GB at {}", f.plan.ctx), width, "weights",
                   "KV cache", "working", "total", "fits", "MB/token");
  if (speeds.read > 0) {
    t += fmt::format(" {:>9}", "tok/s");
    for (const uint32_t d : f.depths) t += fmt::format(" {:>13}", d == 0 ? "at most" : fmt::format("at {}", d));
  }
  t += "\n";
  for (const FitRow& r : f.rows) {
    t += fmt::format("{:{}} {:>10} {:>10} {:>10} {:>10}  {:4} {:>9.1f}", r.type, width, gb(r.cost.weights), gb(r.kv), gb(r.working),
                     gb(r.total()), r.fits ? "yes" : "no", static_cast<double>(r.cost.read_per_token) * 1e-6);
    if (speeds.read > 0) t += fmt::format(" {:>9.1f}", r.expected);
    for (const double c : r.ceilings) t += fmt::format(" {:>13.1f}", c);
    t += "\n";
  }
  if (f.model.cost && !f.model.fixed) t += "\nkeep: as quantize --type keep makes it of this one\n";
  if (!f.model.cost) t += "\nkeep: as quantize --type keep makes it of a source in such a type; q8_0 also of f16 and bf16\n";
  for (const std::string& note : f.notes) t += note + "\n";
  return t;
}

std::string fit_json(const Fit& f) {
  json j;
  j["model"] = f.model.name;
  j["kind"] = f.model.kind;
  j["params"] = f.model.shape.params;
  j["model_context"] = f.model.shape.ctx;
  j["context"] = f.plan.ctx;
  j["kv"] = kv_name(f.plan.kv);
  j["kv_bytes_per_position"] = f.kv_per_position;
  j["threads"] = f.plan.threads;
  if (f.left.bytes == UINT64_MAX)
    j["free_bytes"] = nullptr;
  else
    j["free_bytes"] = f.left.bytes;
  j["kernel"] = f.speeds.path;
  j["read_gb_per_second"] = f.speeds.read;
  j["product_gb_per_second"] = json::object();
  for (const auto& [type, speed] : f.speeds.products) j["product_gb_per_second"][std::string(ttype_name(type))] = speed;
  j["depths"] = f.depths;
  j["depths_beyond_the_context"] = f.beyond;
  j["kv_bytes_read_per_token"] = json::array();
  for (const uint32_t d : f.depths) j["kv_bytes_read_per_token"].push_back(kv_read_bytes(f.model.shape, f.plan.kv, d));
  j["notes"] = f.notes;
  j["rows"] = json::array();
  for (const FitRow& r : f.rows)
    j["rows"].push_back({{"type", r.type},
                         {"weight_bytes", r.cost.weights},
                         {"kv_bytes", r.kv},
                         {"working_bytes", r.working},
                         {"total_bytes", r.total()},
                         {"fits", r.fits},
                         {"weight_bytes_per_token", r.cost.read_per_token},
                         {"expected_tokens_per_second", r.expected},
                         {"ceiling_tokens_per_second", r.ceilings}});
  return j.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace nyb
