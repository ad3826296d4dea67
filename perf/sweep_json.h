// sweep_json.h - the parts of perf's JSON, which the outputs of several tasks are made of.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include "interval.h"
#include "machine.h"
#include "sweep.h"

namespace nyb {

using Json = nlohmann::ordered_json;

Json machine_json(const Machine& m);
Json settings_json(const SweepRow& r);  // what a row is; without its figures
Json row_json(const SweepRow& r);
void put_spread(Json& j, const std::vector<double>& samples);  // spread, and whether that is noisy
Json probe_json(const SweepProbe& p);
Json sweep_json(const Sweep& s, const Machine& m);  // what -o json writes and sweep_read reads
Json ratio_json(const RatioInterval& r);            // ratio, low, high, confidence, verdict
std::string json_text(const Json& j, int indent);   // -1: one line. Bytes that are no UTF-8 become U+FFFD

}  // namespace nyb
