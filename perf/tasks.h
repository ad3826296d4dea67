// tasks.h - what perf does with sweeps: runs one, reads one back, draws it, compares two, runs one in turn with another program,
// writes the weights of one for that.
#pragma once
#include <string>
#include <vector>
#include "common/cli.h"
#include "peer.h"
#include "sweep.h"
#include "sweep_report.h"

namespace nyb {

struct SweepTask {
  std::string plot, from, write;     // files; "": none
  std::vector<std::string> compare;  // two files, or none
  PeerOptions peer;
};

// The names of the options, for other tasks to refuse.
const std::vector<std::string>& sweep_task_names();
void sweep_task_options(CLI::App& app, SweepTask& task);

// Does what the options of `app` ask, and writes it to stdout. `command` is the whole command line.
void run_sweep_task(const CLI::App& app, const CpuFeatures& cpu, SweepOptions o, const SweepTask& task, ReportFormat format,
                    const std::string& command);

}  // namespace nyb
