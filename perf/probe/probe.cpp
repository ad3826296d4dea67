// probe.cpp - read loops in turn over memory that no cache holds.
#include "probe/probe.h"
#include <fmt/format.h>
#include <algorithm>
#include <chrono>
#include <cstring>
#include "common/app.h"
#include "kern/cpu.h"
#include "kern/error.h"

namespace nyb {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kPieceBytes = size_t{4} << 20;  // what a thread reads at once: long streams are the fastest
constexpr double kBytesACycle = 128;             // two loads of 64 bytes: no core of today has more

uint64_t read_all(const ReadLoop& loop, std::span<const std::byte> memory, Pool& pool) {
  std::vector<uint64_t> parts(size_t{pool.threads()} * 8);  // a line each
  par_for(pool, memory.size() / kPieceBytes, 1, [&](size_t first, size_t end, unsigned thread) {
    for (size_t i = first; i < end; ++i) parts[size_t{thread} * 8] ^= loop.run(memory.data() + i * kPieceBytes, kPieceBytes);
  });
  uint64_t all = 0;
  for (const uint64_t part : parts) all ^= part;
  return all;
}

std::span<const std::byte> whole_pieces(std::span<const std::byte> memory) {
  return memory.first(memory.size() / kPieceBytes * kPieceBytes);
}

// What so many cores can load at most.
double bound_of(const Pool& pool) {
  static const double one = kBytesACycle * core_ghz();
  return one * pool.threads();
}

struct Reading {
  uint64_t sum;
  ReadTime time;
};

Reading read_timed(const ReadLoop& loop, std::span<const std::byte> memory, Pool& pool) {
  const Clock::time_point start = Clock::now();
  const uint64_t sum = read_all(loop, memory, pool);
  const ReadTime time{static_cast<double>(memory.size()), std::chrono::duration<double>(Clock::now() - start).count()};
  if (const double bound = bound_of(pool); time.gbs() > bound)
    throw Error(
        fmt::format("the read loop '{}' claims {:.0f} GB/s, but the load ports of {} cores move {:.0f} at most: it does not read",
                    loop.name, time.gbs(), pool.threads(), bound));
  return {sum, time};
}

// Those in plain C++ last.
std::vector<ReadLoop> all_loops() {
  std::vector<ReadLoop> loops = read_loops(cpu_here());
  for (const ReadLoop& plain : plain_loops(cpu_here())) loops.push_back(plain);
  return loops;
}

}  // namespace

double median(std::vector<double> v) {
  if (v.empty()) return 0;
  std::sort(v.begin(), v.end());
  return v.size() % 2 ? v[v.size() / 2] : 0.5 * (v[v.size() / 2 - 1] + v[v.size() / 2]);
}

double core_ghz() {
  constexpr int steps = 2000000;
  double best = 0;
  for (int round = 0; round < 5; ++round) {
    uint64_t x = 1;
    const Clock::time_point start = Clock::now();
    for (int i = 0; i < steps; ++i) asm volatile("add $1, %0\n\tadd $1, %0\n\tadd $1, %0\n\tadd $1, %0" : "+r"(x));  // a cycle each
    best = std::max(best, 4e-9 * steps / std::chrono::duration<double>(Clock::now() - start).count());
  }
  return best;
}

ReadTime& ReadTime::operator+=(const ReadTime& o) {
  bytes += o.bytes;
  seconds += o.seconds;
  return *this;
}

ReadTime read_for(double least, std::string_view name, std::span<const std::byte> memory, Pool& pool) {
  for (const ReadLoop& loop : all_loops()) {
    if (loop.name != name) continue;
    ReadTime sum;
    do sum += read_timed(loop, whole_pieces(memory), pool).time;
    while (sum.seconds < least);
    return sum;
  }
  throw Error(fmt::format("there is no read loop '{}' on this CPU", name));
}

std::vector<LoopSpeed> probe(std::span<const std::byte> memory, Pool& pool, unsigned rounds) {
  memory = whole_pieces(memory);
  const std::vector<ReadLoop> loops = all_loops();
  const size_t ours = read_loops(cpu_here()).size();
  std::vector<LoopSpeed> all;
  const uint64_t expected = read_all(loops.back(), memory, pool);  // touches every page as well
  all.reserve(loops.size());
  for (const ReadLoop& loop : loops) all.push_back({loop.name, all.size() >= ours, {}, 0, 0});
  for (unsigned round = 0; round < rounds; ++round)
    for (size_t i = 0; i < loops.size(); ++i) {
      if (interrupted()) throw Interrupted{};
      const size_t at = (i + round) % loops.size();  // none is always first
      const Reading r = read_timed(loops[at], memory, pool);
      if (r.sum != expected) throw Error(fmt::format("the read loop '{}' did not read all of the memory", loops[at].name));
      all[at].samples.push_back(r.time.gbs());
    }
  for (LoopSpeed& l : all) {
    l.best = *std::max_element(l.samples.begin(), l.samples.end());
    l.median = median(l.samples);
  }
  std::stable_sort(all.begin(), all.end(), [](const LoopSpeed& a, const LoopSpeed& b) { return a.median > b.median; });
  return all;
}

PlainSpeed beside_plain(const std::vector<LoopSpeed>& loops) {
  const auto first = [&](bool plain) {
    return std::find_if(loops.begin(), loops.end(), [=](const LoopSpeed& l) { return l.plain == plain; });
  };
  const auto plain = first(true), ours = first(false);
  if (plain == loops.end()) return {};
  PlainSpeed p{plain->loop, plain->median, 0};
  if (ours == loops.end()) return p;
  std::vector<double> ratios;
  for (size_t i = 0; i < plain->samples.size(); ++i) ratios.push_back(ours->samples[i] / plain->samples[i]);
  p.ratio = median(ratios);
  return p;
}

}  // namespace nyb
