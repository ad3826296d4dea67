// peer.h - another program measured in turn with ours, so that the noise of the machine falls on both.
#pragma once
#include <chrono>
#include <string>
#include <vector>
#include "interval.h"
#include "machine.h"
#include "sweep.h"
#include "sweep_report.h"

namespace nyb {

struct PeerOptions {
  std::string command, pattern;  // pattern "": the JSON of llama-bench or perf
  std::chrono::seconds limit{600};
};

struct PeerRow {
  SweepRow row;                              // ours, a sample a round
  std::vector<std::vector<double>> samples;  // the peer's, those of a round together
  RatioInterval ratio;                       // ours / peer, of the rounds' pairs; a round's samples count by their median
  std::vector<double> peer_rounds() const;   // medians
};

struct PeerRun {
  Sweep sweep;  // ours
  std::vector<PeerRow> rows;
};

// The peer once, uncounted; then o.repetitions rounds: ours, the peer, the peer, ours, ours, ... Ours are all rows of `o`, one
// sample each. Throws Error for whatever stops it, and before anything is measured where a row has no figure of the peer's; what
// the peer wrote to stderr is shown where it fails.
PeerRun run_peer(const CpuFeatures& cpu, const SweepOptions& o, const PeerOptions& p);

// md, or JSON: that of a sweep, with a member "peer", and every sample.
std::string peer_text(const PeerRun& r, const Machine& m, const PeerOptions& p, ReportFormat f);

}  // namespace nyb
