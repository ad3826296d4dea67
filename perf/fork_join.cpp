// fork_join.cpp - what it costs to hand work to the threads and have it back: an empty par_for, one in which every thread really
// takes part, and the same work in many small jobs with as many threads as CPUs and with more.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "benches.h"
#include "engine/pool.h"
#include "engine/threads.h"

namespace nyb {
namespace {

// One piece a thread that does nothing.
void fork_join_empty(benchmark::State& state) {
  const auto threads = static_cast<unsigned>(state.range(0));
  Pool pool(threads);
  for ([[maybe_unused]] auto _ : state)
    par_for(pool, threads, 1, [](size_t begin, size_t, unsigned) { benchmark::DoNotOptimize(begin); });
  state.counters["cpus"] = cpus_usable();
}

// One piece a thread, each of which waits for the others to begin: all threads see the job, take part and are waited for. (In the
// empty one above the caller is often done before a worker has looked.)
void fork_join_all(benchmark::State& state) {
  const auto threads = static_cast<unsigned>(state.range(0));
  if (threads > cpus_usable()) return state.SkipWithError("more threads than CPUs: they would wait for each other's time slice");
  Pool pool(threads);
  std::atomic<unsigned> begun{0};
  for ([[maybe_unused]] auto _ : state) {
    begun.store(0, std::memory_order_relaxed);
    par_for(pool, threads, 1, [&](size_t, size_t, unsigned) {
      begun.fetch_add(1);
      while (begun.load() < threads) {}
    });
  }
}

// 64 pieces of about a microsecond: more threads than CPUs must reach most of the speed of just enough.
void fork_join_work(benchmark::State& state) {
  Pool pool(static_cast<unsigned>(state.range(0)));
  for ([[maybe_unused]] auto _ : state) {
    par_for(pool, 64, 1, [](size_t begin, size_t end, unsigned) {
      for (; begin < end; ++begin) {
        size_t x = begin;
        for (int i = 0; i < 1000; i++) benchmark::DoNotOptimize(x = x * 3 + 1);
      }
    });
  }
  state.SetItemsProcessed(state.iterations() * 64);
}

}  // namespace

std::vector<std::function<void()>> fork_join_groups() {
  const std::pair<const char*, void (*)(benchmark::State&)> all[] = {
      {"fork_join_empty", fork_join_empty}, {"fork_join_all", fork_join_all}, {"fork_join_work", fork_join_work}};
  std::vector<std::function<void()>> groups;
  for (const auto& one : all)
    groups.emplace_back([one] {
      benchmark::RegisterBenchmark(one.first, one.second)->ArgName("threads")->Arg(1)->Arg(2)->Arg(3)->Arg(8)->UseRealTime();
    });
  return groups;
}

}  // namespace nyb
