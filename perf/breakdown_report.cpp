// breakdown_report.cpp - a table for each row.
#include "breakdown_report.h"
#include <fmt/format.h>
#include <algorithm>
#include <nlohmann/json.hpp>
#include "common/app.h"
#include "kern/error.h"
#include "md_table.h"
#include "sweep_json.h"

namespace nyb {
namespace {

constexpr double kMuchOther = 0.05;  // of the whole in no part: that is said

std::string number(double v, int digits) { return v > 0 ? fmt::format("{:.{}f}", v, digits) : std::string(); }

std::string table(const BreakdownRow& b) {
  std::vector<MdColumn> columns = {{"part", false, {}},      {"us/token", true, {}},   {"share", true, {}},
                                   {"waiting", true, {}},    {"MB", true, {}},         {"GB/s", true, {}},
                                   {"loads GB/s", true, {}}, {"arithmetic", true, {}}, {"GMAC/s", true, {}}};
  const auto line = [&](std::initializer_list<std::string> cells) {
    size_t i = 0;
    for (const std::string& c : cells) columns[i++].cells.push_back(c);
  };
  for (const BreakdownPart& p : b.parts)
    line({std::string(p.name), fmt::format("{:.2f}", 1e6 * p.seconds), fmt::format("{:.1f} %", 100 * p.seconds / b.whole),
          number(1e6 * p.waited, 2), number(1e-6 * p.bytes, 2), p.bytes > 0 ? number(p.gbs(), 1) : "",
          p.loads > 0 ? number(p.loads_gbs(), 1) : "", p.loads > 0 ? fmt::format("{:.0f} %", 100 * p.arithmetic) : "",
          number(p.gmacs(), 1)});
  line({"whole", fmt::format("{:.2f}", 1e6 * b.whole), "100.0 %", "", "", "", "", "", ""});
  return md_table(columns);
}

std::string md(const Breakdown& b, const Machine& m) {
  std::string out = machine_words(m) + "\n";
  for (const std::string& line : b.missing) out += line + "\n";
  for (const BreakdownRow& r : b.rows) {
    const SweepRow& s = r.row;
    out += fmt::format("\n{} {}, {}, {}, {} thread{}, kv {}, {}: {:.1f} tok/s with the choice of the token, spread {:.0f} %\n\n",
                       human_words(s.model), s.type, s.load, path_name(s.path), s.threads, s.threads == 1 ? "" : "s", kv_name(s.kv),
                       s.test(), 1 / r.whole, 100 * s.spread());
    out += table(r);
    if (r.parts.back().seconds > kMuchOther * r.whole)
      out += fmt::format("\n{:.0f} % of the time is in none of the parts\n", 100 * r.parts.back().seconds / r.whole);
  }
  const std::string noise = noisy_words(b.rows, [](const BreakdownRow& r) { return r.row.samples; });
  return out + (noise.empty() ? "" : "\n" + noise);
}

Json part_json(const BreakdownPart& p, double whole) {
  Json j;
  j["part"] = p.name;
  j["microseconds"] = 1e6 * p.seconds;
  j["share"] = p.seconds / whole;
  j["waited_microseconds"] = 1e6 * p.waited;
  if (p.bytes > 0) {
    j["bytes_per_token"] = p.bytes;
    j["gb_per_second"] = p.gbs();
  }
  if (p.macs > 0) {
    j["macs_per_token"] = p.macs;
    j["gmac_per_second"] = p.gmacs();
  }
  if (p.loads > 0) {
    j["loads_microseconds"] = 1e6 * p.loads;
    j["loads_gb_per_second"] = p.loads_gbs();
    j["arithmetic_share"] = p.arithmetic;
  }
  if (!p.samples.empty()) {
    j["samples_microseconds"] = p.samples;
    for (Json& s : j["samples_microseconds"]) s = 1e6 * s.get<double>();
  }
  return j;
}

}  // namespace

std::string breakdown_text(const Breakdown& b, const Machine& m, ReportFormat f) {
  if (f == ReportFormat::md) return md(b, m);
  if (f != ReportFormat::json) throw Error("--breakdown writes md or json");
  Json all;
  all["machine"] = machine_json(m);
  all["missing"] = b.missing;
  all["noisy_above"] = kNoisySpread;
  all["rows"] = Json::array();
  for (const BreakdownRow& r : b.rows) {
    Json j = settings_json(r.row);
    j["tokens_per_second"] = 1 / r.whole;
    put_spread(j, r.row.samples);
    j["samples"] = r.row.samples;
    j["microseconds"] = 1e6 * r.whole;
    j["parts"] = Json::array();
    for (const BreakdownPart& p : r.parts) j["parts"].push_back(part_json(p, r.whole));
    all["rows"].push_back(std::move(j));
  }
  return json_text(all, 1);
}

}  // namespace nyb
