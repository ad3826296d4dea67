// kernel_bench.cpp - what is measured of a call.
#include "kernel_bench.h"
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <chrono>
#include <cstring>
#include "common/app.h"
#include "engine/memory.h"
#include "engine/self_check.h"
#include "kernel_call.h"
#include "paths.h"
#include "probe/last_cache.h"
#include "probe/probe.h"
#include "weights.h"

namespace nyb {
namespace {

constexpr size_t kUnknownCache = size_t{32} << 20;  // where the system does not tell
constexpr size_t kMore = size_t{64} << 20;          // beyond four times the last cache
constexpr double kNearlyAll = 0.9;

LastCache caches() {
  static const LastCache known = last_cache();
  return known.all ? known : LastCache{kUnknownCache, kUnknownCache};
}

// Memory with one set after another, kept for the next benchmark of the same call: of another path, or of the same one, which
// Google Benchmark calls several times.
class Sets {
 public:
  Sets(const KernelCall& call, size_t count) : memory_(call.set_bytes * count, Memory::Pages::small), count_(count) {
    call.fill(memory_.data());
    for (size_t i = 1; i < count; ++i) std::memcpy(memory_.data() + i * call.set_bytes, memory_.data(), call.set_bytes);
  }
  static Sets& of(const KernelCall& call, size_t count) {
    static std::string last;
    static std::unique_ptr<Sets> kept;
    if (const std::string name = fmt::format("{} {} {}", call.kernel, call.shape, count); last != name) {
      kept.reset();  // before the next is made
      kept = std::make_unique<Sets>(call, count);
      last = name;
    }
    return *kept;
  }
  std::byte* data() const { return memory_.data(); }
  size_t count() const { return count_; }

 private:
  Memory memory_;
  size_t count_;
};

void measure(benchmark::State& state, const KernelCall& call, const KernTable& k, bool cold, Mca& mca) {
  if (interrupted()) return state.SkipWithError("interrupted");
  const size_t count = cold ? (4 * caches().all + kMore) / call.set_bytes + 1 : 1;
  if (const size_t bytes = count * call.set_bytes; bytes > memory_left().bytes / 2)
    return state.SkipWithError(fmt::format("takes {} of memory, more than half of what is free", human_bytes(bytes)).c_str());
  const Sets& sets = Sets::of(call, count);
  std::byte *set = sets.data(), *const end = set + count * call.set_bytes;
  call.run(k, cold ? end - call.set_bytes : set);  // is not counted: code and arguments are there then
  const auto start = std::chrono::steady_clock::now();
  for ([[maybe_unused]] auto turn : state) {
    call.run(k, set);
    set = set + call.set_bytes == end ? sets.data() : set + call.set_bytes;
    benchmark::ClobberMemory();
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const double calls = static_cast<double>(state.iterations());
  const double cycles = seconds * core_ghz() * 1e9;
  state.counters["GB/s"] = calls * call.bytes * 1e-9 / seconds;
  if (call.macs > 0) state.counters["GMAC/s"] = calls * call.macs * 1e-9 / seconds;
  state.counters["cycles_per_byte"] = cycles / (calls * call.bytes);
  state.counters["cycles_per_element"] = cycles / (calls * call.elements);
  if (k.path == Path::ref) return;  // what a compiler made calls and is called
  const McaBound& bound = mca.bound(k, call.kernel);
  if (!bound.problem.empty()) return;
  state.counters["mca_cycles_per_element"] = bound.cycles;
  if (bound.share < kNearlyAll) state.counters["mca_share"] = bound.share;
}

}  // namespace

void check_kernels(const std::vector<Path>& paths, const KernelSizes& sizes, const TableOf& table) {
  const CheckShapes shapes = kernel_shapes(sizes);
  for (const Path p : paths)
    if (const std::vector<std::string> bad = self_check(table(p), shapes); !bad.empty())
      throw Error(
          fmt::format("the path {} differs from the reference in {}: it is not worth timing", path_name(p), fmt::join(bad, ", ")));
}

std::vector<KernelGroup> kernel_groups(const std::vector<Path>& paths, const KernelSizes& sizes, const std::shared_ptr<Mca>& mca,
                                       std::vector<std::string>& notes, const TableOf& table) {
  std::vector<KernelGroup> groups;
  for (const KernInfo& info : kern_list()) {
    const std::vector<KernelCall> calls = kernel_calls(info.name, sizes);
    if (calls.empty()) notes.push_back(fmt::format("{}: has no call to measure at these sizes", info.name));
    for (const KernelCall& call : calls)
      for (const bool cold : {false, true}) {
        if (!cold && 2 * call.set_bytes > caches().one) continue;
        KernelGroup group;
        for (const Path p : paths)
          if (own_body(info.name, p))
            group.push_back({fmt::format("{}/{}/{}/{}", call.kernel, path_name(p), call.shape, cold ? "cold" : "warm"),
                             [=, &k = table(p)](benchmark::State& s) { measure(s, call, k, cold, *mca); }});
        if (!group.empty()) groups.push_back(std::move(group));
      }
  }
  return groups;
}

}  // namespace nyb
