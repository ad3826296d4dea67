// kernel_report.cpp - a row each benchmark.
#include "kernel_report.h"
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include "common/app.h"
#include "probe/probe.h"
#include "spread.h"
#include "sweep_json.h"

namespace nyb {
namespace {

// "kernel/path/shape/warm" has four; what is no kernel has its name, and the rest as its shape.
struct Words {
  std::string kernel, path, shape, memory;
};

Words words_of(const std::string& name) {
  const size_t a = name.find('/'), b = name.find('/', a + 1), c = name.find('/', b + 1);
  if (a == std::string::npos) return {name, "", "", ""};
  if (b == std::string::npos || c == std::string::npos) return {name.substr(0, a), "", name.substr(a + 1), ""};
  return {name.substr(0, a), name.substr(a + 1, b - a - 1), name.substr(b + 1, c - b - 1), name.substr(c + 1)};
}

std::string counter(const KernelRow& r, const char* name, int digits) {
  const auto it = r.counters.find(name);
  return it == r.counters.end() ? std::string() : fmt::format("{:.{}f}", median(it->second), digits);
}

struct Column {
  const char* name;
  int width;  // of most cells: the table is told while it grows
  bool right;
};
constexpr Column kColumns[] = {{"kernel", 15, false},     {"path", 6, false},           {"shape", 9, false},  {"memory", 6, false},
                               {"ns", 10, true},          {"spread", 6, true},          {"GB/s", 7, true},    {"GMAC/s", 7, true},
                               {"cycles/byte", 11, true}, {"cycles/element", 14, true}, {"llvm-mca", 8, true}};

std::string line_of(const std::vector<std::string>& cells) {
  std::string out;
  for (size_t i = 0; i < std::size(kColumns); ++i)
    out += kColumns[i].right ? fmt::format("| {:>{}} ", cells[i], kColumns[i].width)
                             : fmt::format("| {:<{}} ", cells[i], kColumns[i].width);
  return out + "|\n";
}

}  // namespace

void KernelReporter::ReportRuns(const std::vector<Run>& runs) {
  if (interrupted()) throw Interrupted{};
  KernelRow row;
  for (const Run& run : runs) {
    if (run.run_type != Run::RT_Iteration) continue;
    row.name = run.run_name.str();
    if (run.error_occurred) {
      row.problem = run.error_message;
      continue;
    }
    row.nanoseconds.push_back(1e9 * run.real_accumulated_time / static_cast<double>(run.iterations));
    for (const auto& [what, c] : run.counters) row.counters[what].push_back(c.value);
  }
  if (!row.name.empty()) row_(std::move(row));
}

std::string kernel_head(const std::vector<std::string>& notes, const Machine& m) {
  std::string out = machine_words(m) + "\n";
  for (const std::string& note : notes) out += note + "\n";
  std::vector<std::string> names, rules;
  for (const Column& c : kColumns) {
    names.emplace_back(c.name);
    rules.push_back(std::string(static_cast<size_t>(c.width - c.right), '-') + (c.right ? ":" : ""));
  }
  return out + "\n" + line_of(names) + line_of(rules);
}

std::string kernel_line(const KernelRow& r) {
  const Words w = words_of(r.name);
  std::string mca = counter(r, "mca_cycles_per_element", 4);
  if (r.counters.contains("mca_share")) mca += fmt::format(" ({:.0f} %)", 100 * median(r.counters.at("mca_share")));
  return line_of({w.kernel, w.path, w.shape, w.memory, r.problem.empty() ? fmt::format("{:.1f}", median(r.nanoseconds)) : r.problem,
                  r.problem.empty() ? fmt::format("{:.0f} %", 100 * spread_of(r.nanoseconds)) : std::string(),
                  counter(r, "GB/s", 2), counter(r, "GMAC/s", 2), counter(r, "cycles_per_byte", 4),
                  counter(r, "cycles_per_element", 4), mca});
}

std::string kernel_json(const std::vector<KernelRow>& rows, const std::vector<std::string>& notes, const Machine& m) {
  Json all;
  all["machine"] = machine_json(m);
  all["notes"] = notes;
  all["noisy_above"] = kNoisySpread;
  all["rows"] = Json::array();
  for (const KernelRow& r : rows) {
    const Words w = words_of(r.name);
    Json j = {{"kernel", w.kernel}, {"path", w.path}, {"shape", w.shape}, {"memory", w.memory}};
    if (!r.problem.empty()) j["problem"] = r.problem;
    if (!r.nanoseconds.empty()) {
      j["nanoseconds"] = median(r.nanoseconds);
      put_spread(j, r.nanoseconds);
    }
    for (const auto& [counter, values] : r.counters) {
      const std::string name = counter == "GB/s" ? "gb_per_second" : counter == "GMAC/s" ? "gmac_per_second" : counter;
      j[name] = median(values);
      j["samples_" + name] = values;
    }
    j["samples_nanoseconds"] = r.nanoseconds;
    all["rows"].push_back(std::move(j));
  }
  return json_text(all, 1);
}

}  // namespace nyb
