// sweep.cpp - a benchmark of Google's for each row and each probe; its random interleaving makes the ratio of two of them fair.
#include "sweep.h"
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <exception>
#include "common/app.h"
#include "registered.h"
#include "sweep_plan.h"

namespace nyb {
namespace {

// Google Benchmark lets no exception through.
class Guard {
 public:
  template <class F>
  void run(benchmark::State& state, F&& f) {
    if (fault_) return state.SkipWithError("an earlier one failed");
    try {
      if (interrupted()) throw Interrupted{};
      f();
    } catch (...) {
      fault_ = std::current_exception();
      state.SkipWithError("failed");
    }
  }
  void rethrow() const {
    if (fault_) std::rethrow_exception(fault_);
  }

 private:
  std::exception_ptr fault_;
};

void time_row(benchmark::State& state, SweepCell& cell, const ReadBeside& read) {
  for ([[maybe_unused]] auto _ : state) {
    sweep_sample(cell, read);
    state.SetIterationTime(std::max(cell.row.prompt, cell.row.gen) / cell.row.samples.back());
  }
}

void time_probe(benchmark::State& state, ProbeCell& cell) {
  Pool pool(cell.probe.threads);
  read_speed(cell.probe.loop, cell.memory->bytes(), pool);
  for ([[maybe_unused]] auto _ : state) {
    const double gbs = read_speed(cell.probe.loop, cell.memory->bytes(), pool);
    state.SetIterationTime(static_cast<double>(cell.memory->bytes().size()) * 1e-9 / gbs);
    cell.probe.samples.push_back(gbs);
  }
}

void run_all(std::vector<SweepCell>& cells, std::vector<ProbeCell>& probes, uint32_t repetitions) {
  Guard guard;
  const auto add = [&](const std::string& name, auto f) {
    benchmark::RegisterBenchmark(name.c_str(), [&guard, f](benchmark::State& s) { guard.run(s, [&] { f(s); }); })
        ->Iterations(1)
        ->Repetitions(static_cast<int>(repetitions))
        ->UseManualTime();
  };
  for (ProbeCell& p : probes)
    add(fmt::format("read/{}/{}", p.probe.threads, p.probe.kind), [&p](benchmark::State& s) { time_probe(s, p); });
  for (SweepCell& c : cells)
    add(fmt::format("{}/{}/{}/{}/{}", c.row.model, c.row.type, path_name(c.row.path), c.row.threads, c.row.test()),
        [&c, read = read_beside(probe_of(probes, c.row))](benchmark::State& s) { time_row(s, c, read); });
  run_interleaved();
  guard.rethrow();
}

}  // namespace

std::string SweepRow::test() const {
  std::string t = prompt ? fmt::format("pp{}", prompt) : fmt::format("tg{}", gen);
  return depth ? t + fmt::format(" @ d{}", depth) : t;
}

double SweepRow::speed() const { return median(samples); }

double SweepRow::bandwidth() const { return reads.empty() ? file_bandwidth : median(reads); }

std::vector<double> SweepRow::shares() const {
  std::vector<double> all;
  for (size_t i = 0; i < reads.size(); ++i) all.push_back(samples[i] * bytes_per_token * 1e-9 / reads[i]);
  return all;
}

double SweepRow::share() const {
  if (!reads.empty()) return median(shares());
  return bandwidth() > 0 ? gbs() / bandwidth() : 0;
}

double SweepRow::macs_per_byte() const {
  const double chunks = std::ceil(static_cast<double>(prompt) / std::max(1u, chunk));
  const double macs = macs_per_token * (gen ? 1 : prompt),
               bytes = gen ? bytes_per_token : chunks * static_cast<double>(weight_bytes);
  return bytes > 0 ? macs / bytes : 0;
}

double SweepProbe::best() const { return samples.empty() ? 0 : *std::max_element(samples.begin(), samples.end()); }

Sweep run_sweep(const CpuFeatures& cpu, const SweepOptions& o, const TableOf& table) {
  SweepPlan plan = sweep_plan(cpu, o, table);
  const std::vector<std::unique_ptr<ProbeMemory>> memories = probe_memories(o.read_bytes, plan.missing);
  std::vector<ProbeCell> probes = sweep_probes(memories, plan.threads);
  run_all(plan.cells, probes, o.repetitions);
  return sweep_result(std::move(plan), std::move(probes));
}

}  // namespace nyb
