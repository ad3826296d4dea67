// sweep_report.h - what a sweep found, for people and for programs.
#pragma once
#include <string>
#include "machine.h"
#include "sweep.h"

namespace nyb {

enum class ReportFormat : uint8_t { md, csv, json, jsonl };
ReportFormat report_format(const std::string& name);  // throws Error listing them

// md: a table with the bandwidth above and what was noticed below it. csv: the table, one sample list a row. json: one object with
// machine, probes and rows; jsonl: one object a row. Both have every sample.
std::string sweep_text(const Sweep& s, const Machine& m, ReportFormat f);

}  // namespace nyb
