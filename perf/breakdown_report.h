// breakdown_report.h - what a breakdown found, for people and for programs.
#pragma once
#include <string>
#include "breakdown.h"
#include "machine.h"
#include "sweep_report.h"

namespace nyb {

// md: a table for each row; json: one object, with the samples of all repetitions. Throws Error for the other formats.
std::string breakdown_text(const Breakdown& b, const Machine& m, ReportFormat f);

}  // namespace nyb
