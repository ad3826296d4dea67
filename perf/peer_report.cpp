// peer_report.cpp - ours beside the peer, in words and in JSON.
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include "common/app.h"
#include "compare.h"
#include "md_table.h"
#include "peer.h"
#include "sweep_json.h"

namespace nyb {
namespace {

std::string md(const PeerRun& r, const Machine& m, const PeerOptions& p) {
  std::string out = fmt::format("{}, {} CPU{}; {}\npeer: {}\n\n", human_words(m.cpu), m.cpus, m.cpus == 1 ? "" : "s", made_by(m),
                                human_words(p.command));
  MdColumn row{"row", false, {}}, ours{"ours tok/s", true, {}}, peer{"peer tok/s", true, {}}, ratio{"ours / peer", true, {}},
      range{"interval", true, {}}, verdict{"ours is", false, {}};
  size_t rounds = 0;
  for (const PeerRow& x : r.rows) {
    row.cells.push_back(row_name(x.row));
    ours.cells.push_back(fmt::format("{:.2f}", x.row.speed()));
    peer.cells.push_back(fmt::format("{:.2f}", x.peer_speed()));
    ratio.cells.push_back(fmt::format("{:.3f}", x.ratio.ratio));
    range.cells.push_back(x.ratio.range());
    verdict.cells.emplace_back(x.ratio.verdict());
    rounds = x.samples.size();
  }
  out += md_table({row, ours, peer, ratio, range, verdict});
  return out + fmt::format(
                   "\n{} round{}, ours and the peer in turn, who begins alternating; the ratio is that of a round's pair, with the "
                   "{:.0f} % "
                   "interval of the signed-rank test\n",
                   rounds, rounds == 1 ? "" : "s", 100 * kConfidence);
}

}  // namespace

std::string peer_text(const PeerRun& r, const Machine& m, const PeerOptions& p, ReportFormat f) {
  if (f == ReportFormat::md) return md(r, m, p);
  Json all = sweep_json(r.sweep, m);
  Json& peer = all["peer"];
  peer["command"] = p.command;
  peer["pattern"] = p.pattern;
  peer["rows"] = Json::array();
  for (const PeerRow& x : r.rows) {
    Json j = settings_json(x.row);
    j["ours"] = x.row.samples;
    j["peer"] = x.samples;
    j.update(ratio_json(x.ratio));
    peer["rows"].push_back(std::move(j));
  }
  return json_text(all, 1);
}

}  // namespace nyb
