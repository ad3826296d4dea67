// compare_report.cpp - a comparison in words and in JSON.
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include "common/app.h"
#include "compare.h"
#include "md_table.h"
#include "sweep_json.h"

namespace nyb {
namespace {

std::string md(const Comparison& c) {
  const auto side = [](const char* which, const Machine& m) {
    return fmt::format("{}: {}, {} CPU{}; {}\n", which, human_words(m.cpu), m.cpus, m.cpus == 1 ? "" : "s", made_by(m));
  };
  std::string out = side("old", c.old_machine) + side("new", c.machine);
  for (const std::string& w : c.warnings) out += "warning: " + w + "\n";
  if (c.rows.empty()) {
    out += "\nno row has the same settings in both\n";
  } else {
    MdColumn row{"row", false, {}}, old{"old tok/s", true, {}}, now{"new tok/s", true, {}}, ratio{"new / old", true, {}},
        range{"interval", true, {}}, verdict{"verdict", false, {}};
    for (const ComparedRow& r : c.rows) {
      row.cells.push_back(row_name(r.now));
      old.cells.push_back(fmt::format("{:.2f}", r.old.speed()));
      now.cells.push_back(fmt::format("{:.2f}", r.now.speed()));
      ratio.cells.push_back(fmt::format("{:.3f}", r.ratio.ratio));
      range.cells.push_back(r.ratio.range());
      verdict.cells.emplace_back(r.ratio.verdict());
    }
    out += "\n" + md_table({row, old, now, ratio, range, verdict});
  }
  const auto unmatched = [&out](const char* which, const std::vector<SweepRow>& rows) {
    if (!rows.empty()) out += "\n";
    for (const SweepRow& r : rows) out += fmt::format("only in the {}: {} ({:.2f} tok/s)\n", which, row_name(r), r.speed());
  };
  unmatched("old", c.only_old);
  unmatched("new", c.only_new);
  if (!c.rows.empty())
    out += fmt::format(
        "\nratio: the median of all ratios of a new sample and an old one, with the {:.0f} % interval of the rank-sum test;\nwhere "
        "nothing differs, one row in twenty is called different. The two runs were not measured side by side: perf --peer does "
        "that.\n",
        100 * kConfidence);
  return out;
}

}  // namespace

std::string compare_text(const Comparison& c, ReportFormat f) {
  if (f == ReportFormat::md) return md(c);
  if (f != ReportFormat::json) throw UsageError("--compare writes md and json");
  Json all;
  all["old"] = machine_json(c.old_machine);
  all["new"] = machine_json(c.machine);
  all["warnings"] = c.warnings;
  all["noisy_above"] = kNoisySpread;
  all["rows"] = Json::array();
  for (const ComparedRow& r : c.rows) {
    Json j = settings_json(r.now);
    const auto side = [](const SweepRow& s) {
      Json j = {{"tokens_per_second", s.speed()}};
      put_spread(j, s.samples);
      j["samples"] = s.samples;
      return j;
    };
    j["old"] = side(r.old);
    j["new"] = side(r.now);
    j.update(ratio_json(r.ratio));
    all["rows"].push_back(std::move(j));
  }
  for (const auto& [name, rows] : {std::pair("only_old", &c.only_old), std::pair("only_new", &c.only_new)}) {
    all[name] = Json::array();
    for (const SweepRow& r : *rows) all[name].push_back(row_json(r));
  }
  return json_text(all, 1);
}

}  // namespace nyb
