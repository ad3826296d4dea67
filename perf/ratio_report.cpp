// ratio_report.cpp - products beside reading, in words and in JSON.
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include "probe/probe.h"
#include "ratio.h"
#include "sweep_json.h"

namespace nyb {
namespace {

constexpr const char* kRatioLine = "{:6}  {:10}  {:4}  {:>9}  {:15}  {:>9}  {:>5}  {:>6}\n";

}  // namespace

std::string ratio_head(const Machine& m, const std::vector<std::string>& notes) {
  std::string out = machine_words(m) + "\n";
  for (const std::string& note : notes) out += note + "\n";
  return out + fmt::format(kRatioLine, "path", "order", "type", "read GB/s", "fastest loop", "gemv GB/s", "ratio", "spread");
}

std::string ratio_line(const RatioRow& r) {
  const auto number = [](const std::vector<double>& v, int digits) { return fmt::format("{:.{}f}", median(v), digits); };
  return fmt::format(kRatioLine, path_name(r.path), order_name(r.order), ttype_name(r.type), number(r.read, 2), r.loop,
                     number(r.product, 2), number(r.ratios, 3), fmt::format("{:.0f} %", 100 * spread_of(r.ratios)));
}

std::string ratio_json(const std::vector<RatioRow>& rows, const RatioOptions& o, const std::vector<std::string>& notes,
                       const Machine& m) {
  Json all;
  all["machine"] = machine_json(m);
  all["notes"] = notes;
  all["mib"] = o.mib;
  all["threads"] = o.threads;
  all["huge"] = o.pages == Memory::Pages::huge;
  all["noisy_above"] = kNoisySpread;
  all["rows"] = Json::array();
  for (const RatioRow& r : rows) {
    Json j = {{"kernel", path_name(r.path)},
              {"order", order_name(r.order)},
              {"type", ttype_name(r.type)},
              {"loop", r.loop},
              {"read_gb_per_second", median(r.read)},
              {"gb_per_second", median(r.product)},
              {"ratio", median(r.ratios)}};
    put_spread(j, r.ratios);
    j["samples"] = r.ratios;
    j["read_samples"] = r.read;
    j["product_samples"] = r.product;
    all["rows"].push_back(std::move(j));
  }
  return json_text(all, 1);
}

}  // namespace nyb
