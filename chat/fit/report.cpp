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

}  // namespace

std::string fit_text(const Fit& f) {
  const ModelShape& s = f.model.shape;
  std::string t = fmt::format("{}: {}, {} parameters, {} layers, context {}\n", human_words(f.model.name), f.model.kind,
                              human_count(s.params), s.layers, s.ctx);
  t += left_words(f.left) + "\n";
  if (f.bandwidth > 0)
    t += fmt::format("reading gives {:.1f} GB/s with {} thread{}: the tok/s below are what that allows at most\n", f.bandwidth,
                     f.threads, f.threads == 1 ? "" : "s");
  t += fmt::format("KV cache in {}: {} bytes a position;", kv_name(f.kv), f.kv_per_position);
  for (const uint32_t c : f.contexts)
    t += fmt::format(" {} at {}{}", human_bytes(c * f.kv_per_position), c, c == f.contexts.back() ? "\n" : ",");
  size_t width = 14;
  for (const FitRow& r : f.rows) width = std::max(width, r.type.size());
  t += fmt::format("\n{:{}} {:>10} {:>10} {:>10} {:>10}  {:4} {:>9}", fmt::format("GB at {}", f.ctx), width, "weights", "KV cache",
                   "working", "total", "fits", "MB/token");
  for (const uint32_t d : f.depths) t += f.bandwidth > 0 ? fmt::format(" {:>14}", d ? fmt::format("tok/s at {}", d) : "tok/s") : "";
  t += "\n";
  for (const FitRow& r : f.rows) {
    t += fmt::format("{:{}} {:>10} {:>10} {:>10} {:>10}  {:4} {:>9.1f}", r.type, width, gb(r.weights), gb(r.kv), gb(r.working),
                     gb(r.total()), r.fits ? "yes" : "no", static_cast<double>(r.read_per_token) * 1e-6);
    for (const double c : r.ceilings) t += f.bandwidth > 0 ? fmt::format(" {:>14.1f}", c) : "";
    t += "\n";
  }
  return t;
}

std::string fit_json(const Fit& f) {
  json j;
  j["model"] = f.model.name;
  j["kind"] = f.model.kind;
  j["params"] = f.model.shape.params;
  j["context"] = f.ctx;
  j["kv"] = kv_name(f.kv);
  j["kv_bytes_per_position"] = f.kv_per_position;
  j["threads"] = f.threads;
  if (f.left.bytes == UINT64_MAX)
    j["free_bytes"] = nullptr;
  else
    j["free_bytes"] = f.left.bytes;
  j["read_gb_per_second"] = f.bandwidth;
  j["depths"] = f.depths;
  j["rows"] = json::array();
  for (const FitRow& r : f.rows)
    j["rows"].push_back({{"type", r.type},
                         {"weight_bytes", r.weights},
                         {"kv_bytes", r.kv},
                         {"working_bytes", r.working},
                         {"total_bytes", r.total()},
                         {"fits", r.fits},
                         {"weight_bytes_per_token", r.read_per_token},
                         {"ceiling_tokens_per_second", r.ceilings}});
  return j.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace nyb
