// peer_report.cpp - ours beside the peer, in words and in JSON.
#include <fmt/format.h>
#include <algorithm>
#include <nlohmann/json.hpp>
#include "common/app.h"
#include "compare.h"
#include "md_table.h"
#include "peer.h"
#include "probe/probe.h"
#include "sweep_json.h"

namespace nyb {
namespace {

bool is_noisy(const PeerRow& r) { return noisy(r.row.samples) || noisy(r.peer_rounds()); }

std::string md(const PeerRun& r, const Machine& m, const PeerOptions& p) {
  std::string out = fmt::format("{}, {} CPU{}; {}\npeer: {}\n\n", human_words(m.cpu), m.cpus, m.cpus == 1 ? "" : "s", made_by(m),
                                human_words(p.command));
  MdColumn row{"row", false, {}}, ours{"ours tok/s", true, {}}, our_spread{"spread", true, {}}, peer{"peer tok/s", true, {}},
      spread{"spread", true, {}}, ratio{"ours / peer", true, {}}, range{"interval", true, {}}, verdict{"ours is", false, {}};
  size_t rounds = 0;
  for (const PeerRow& x : r.rows) {
    row.cells.push_back(row_name(x.row));
    ours.cells.push_back(fmt::format("{:.2f}", x.row.speed()));
    our_spread.cells.push_back(fmt::format("{:.0f} %", 100 * x.row.spread()));
    peer.cells.push_back(fmt::format("{:.2f}", median(x.peer_rounds())));
    spread.cells.push_back(fmt::format("{:.0f} %", 100 * spread_of(x.peer_rounds())));
    ratio.cells.push_back(fmt::format("{:.3f}", x.ratio.ratio));
    range.cells.push_back(x.ratio.range());
    verdict.cells.emplace_back(x.ratio.verdict());
    rounds = x.samples.size();
  }
  out += md_table({row, ours, our_spread, peer, spread, ratio, range, verdict});
  out += fmt::format(
      "\n{} round{}, ours and the peer in turn, who begins alternating; the ratio is that of a round's pair, with the {:.0f} % "
      "interval of the signed-rank test\n",
      rounds, rounds == 1 ? "" : "s", 100 * kConfidence);
  const auto noisy_rows = std::count_if(r.rows.begin(), r.rows.end(), is_noisy);
  return out + noisy_words(static_cast<size_t>(noisy_rows), r.rows.size());
}

}  // namespace

std::string peer_text(const PeerRun& r, const Machine& m, const PeerOptions& p, ReportFormat f) {
  if (f == ReportFormat::md) return md(r, m, p);
  Json all = sweep_json(r.sweep, m);
  Json& peer = all["peer"];
  peer["command"] = p.command;
  peer["pattern"] = p.pattern;
  peer["noisy_above"] = kNoisySpread;
  peer["rows"] = Json::array();
  for (const PeerRow& x : r.rows) {
    Json j = settings_json(x.row);
    j["ours"] = x.row.samples;
    j["peer"] = x.samples;
    j["ours_spread"] = x.row.spread();
    j["peer_spread"] = spread_of(x.peer_rounds());
    j["noisy"] = is_noisy(x);
    j.update(ratio_json(x.ratio));
    peer["rows"].push_back(std::move(j));
  }
  return json_text(all, 1);
}

}  // namespace nyb
