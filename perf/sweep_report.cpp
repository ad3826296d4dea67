// sweep_report.cpp - tables.
#include "sweep_report.h"
#include <fmt/format.h>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include "common/app.h"
#include "md_table.h"
#include "probe/probe.h"
#include "sweep_json.h"
#include "sweep_plan.h"

namespace nyb {
namespace {

struct Column {
  const char* name;
  bool right;
  std::string (*text)(const SweepRow&);
  bool setting = false;  // said once above the table where it is the same in all rows
};

// What is of decode alone is left out of a prompt's row, whose weights serve many tokens.
const Column kColumns[] = {
    {"model", false, [](const SweepRow& r) { return human_words(r.model); }},
    {"type", false, [](const SweepRow& r) { return r.type; }},
    {"size", true, [](const SweepRow& r) { return human_bytes(r.weight_bytes); }},
    {"memory", false, [](const SweepRow& r) { return r.load; }, true},
    {"kernel", false, [](const SweepRow& r) { return std::string(path_name(r.path)); }},
    {"threads", true, [](const SweepRow& r) { return fmt::format("{}", r.threads); }},
    {"kv", false, [](const SweepRow& r) { return std::string(kv_name(r.kv)); }, true},
    {"chunk", true, [](const SweepRow& r) { return r.prompt ? fmt::format("{}", r.chunk) : std::string(); }, true},
    {"samples", true, [](const SweepRow& r) { return fmt::format("{}", r.samples.size()); }, true},
    {"test", false, [](const SweepRow& r) { return r.test(); }},
    {"tok/s", true, [](const SweepRow& r) { return fmt::format("{:.2f}", r.speed()); }},
    {"spread", true, [](const SweepRow& r) { return fmt::format("{:.0f} %", 100 * r.spread()); }},
    {"MB/token", true, [](const SweepRow& r) { return r.gen ? fmt::format("{:.1f}", r.bytes_per_token * 1e-6) : std::string(); }},
    {"GB/s", true, [](const SweepRow& r) { return r.gen ? fmt::format("{:.1f}", r.gbs()) : std::string(); }},
    {"share", true, [](const SweepRow& r) { return r.gen ? fmt::format("{:.0f} %", 100 * r.share()) : std::string(); }},
    {"ceiling", true, [](const SweepRow& r) { return r.gen ? fmt::format("{:.1f}", r.ceiling()) : std::string(); }},
    {"MAC/byte", true, [](const SweepRow& r) { return fmt::format("{:.2f}", r.macs_per_byte()); }},
    {"GMAC/s", true, [](const SweepRow& r) { return fmt::format("{:.1f}", r.gmacs()); }},
};

// What all rows have in common that have any of it.
std::optional<std::string> common(const std::vector<std::string>& cells) {
  std::optional<std::string> one = "";
  for (const std::string& c : cells) {
    if (!one->empty() && !c.empty() && *one != c) return std::nullopt;
    if (!c.empty()) one = c;
  }
  return one;
}

std::string table(const std::vector<SweepRow>& rows) {
  std::vector<MdColumn> columns;
  std::string settings;
  for (const Column& c : kColumns) {
    MdColumn column{c.name, c.right, {}};
    for (const SweepRow& r : rows) column.cells.push_back(c.text(r));
    if (const auto same = c.setting ? common(column.cells) : std::nullopt) {
      if (!same->empty()) settings += fmt::format("{}{} {}", settings.empty() ? "" : ", ", c.name, *same);
    } else {
      columns.push_back(std::move(column));
    }
  }
  return (settings.empty() ? "" : fmt::format("all rows: {}\n", settings)) + "\n" + md_table(columns);
}

std::string probe_line(const SweepProbe& p) {
  std::string plain;
  if (!p.plain.loop.empty()) plain = fmt::format("; {} {:.1f}", p.plain.loop, p.plain.median);
  if (p.plain.ratio > 0) plain += fmt::format(", ratio {:.3f}, the median of {} in turn", p.plain.ratio, kProbeRounds);
  return fmt::format("read bandwidth, {} thread{}, {}{}: {:.1f} GB/s median, {:.1f} best, spread {:.0f} % (loop {}{}{})\n",
                     p.threads, p.threads == 1 ? "" : "s", p.kind, p.weights ? ", as the weights" : "", median(p.samples), p.best(),
                     100 * spread_of(p.samples), p.loop, p.bytes ? fmt::format(" over {} MiB", p.bytes >> 20) : "", plain);
}

std::string md(const Sweep& s, const Machine& m) {
  std::string out = machine_words(m) + "\n";
  for (const SweepProbe& p : s.probes) out += probe_line(p);
  for (const std::string& line : s.missing) out += line + "\n";
  out += table(s.rows);
  const std::string noise = noisy_words(s.rows, [](const SweepRow& r) { return r.samples; });
  return out + (noise.empty() ? "" : "\n" + noise);
}

std::string csv_cell(const std::string& s) {
  if (s.find_first_of(",\"\n") == std::string::npos) return s;
  std::string out = "\"";
  for (const char c : s) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

// The members of the JSON rows, so that both have the same names.
std::string csv(const Sweep& s) {
  std::string out;
  std::vector<std::string> names;
  for (const SweepRow& r : s.rows) {
    const Json j = row_json(r);
    for (const auto& [name, value] : j.items())
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  out += fmt::format("{}\n", fmt::join(names, ","));
  for (const SweepRow& r : s.rows) {
    const Json j = row_json(r);
    for (size_t i = 0; i < names.size(); ++i) {
      const auto it = j.find(names[i]);
      std::string cell = it == j.end()     ? ""
                         : it->is_string() ? it->get<std::string>()
                         : it->is_array()  ? fmt::format("{}", fmt::join(it->get<std::vector<double>>(), " "))
                                           : it->dump();
      out += (i ? "," : "") + csv_cell(cell);
    }
    out += "\n";
  }
  return out;
}

}  // namespace

ReportFormat report_format(const std::string& name) {
  if (name == "md") return ReportFormat::md;
  if (name == "csv") return ReportFormat::csv;
  if (name == "json") return ReportFormat::json;
  if (name == "jsonl") return ReportFormat::jsonl;
  throw Error(fmt::format("the output is one of md, csv, json, jsonl, not '{}'", human_words(name)));
}

std::string sweep_text(const Sweep& s, const Machine& m, ReportFormat f) {
  if (f == ReportFormat::md) return md(s, m);
  if (f == ReportFormat::csv) return csv(s);
  if (f == ReportFormat::json) return json_text(sweep_json(s, m), 1);
  std::string lines;
  for (const SweepRow& r : s.rows) lines += json_text(row_json(r), -1);
  return lines;
}

}  // namespace nyb
