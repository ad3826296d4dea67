// weights_probe.cpp - the read loops over the tensors of a model.
#include "probe/weights_probe.h"
#include <algorithm>
#include <chrono>
#include <span>
#include <vector>
#include "kern/cpu.h"
#include "probe/probe.h"

namespace nyb {
namespace {

using Clock = std::chrono::steady_clock;
constexpr uint64_t kPiece = uint64_t{256} << 10;  // small models are spread over the threads too
constexpr uint64_t kUnit = 512;                   // what a loop reads at once
constexpr int kPasses = 2;

std::vector<std::span<const uint8_t>> pieces_of(const Model& m) {
  std::vector<std::span<const uint8_t>> all;
  for (const Tensor& t : m.tensors) {
    if (&t == m.embed && m.head != m.embed) continue;  // a token reads a row of it
    for (uint64_t at = 0; at + kUnit <= t.bytes; at += kPiece)
      all.emplace_back(t.data + at, std::min(kPiece, (t.bytes - at) / kUnit * kUnit));
  }
  return all;
}

}  // namespace

double weights_read_speed(const Model& model, Pool& pool) {
  const auto pieces = pieces_of(model);
  uint64_t bytes = 0;
  for (const auto& p : pieces) bytes += p.size();
  double best = 0;
  std::vector<ReadLoop> all = read_loops(cpu_here());
  if (all.empty()) all = plain_loops(cpu_here());
  const std::span<const ReadLoop> loops = std::span(all).last(std::min<size_t>(all.size(), 3));
  std::vector<uint64_t> sums(size_t{pool.threads()} * 8);  // a line each; kept, so that no load can be left out
  for (int pass = 0; pass < kPasses; ++pass)
    for (const ReadLoop& loop : loops) {
      const Clock::time_point start = Clock::now();
      par_for(pool, pieces.size(), 4, [&](size_t first, size_t end, unsigned thread) {
        for (size_t i = first; i < end; ++i) sums[size_t{thread} * 8] ^= loop.run(pieces[i].data(), pieces[i].size());
      });
      const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
      if (seconds > 0) best = std::max(best, static_cast<double>(bytes) * 1e-9 / seconds);
    }
  return best;
}

}  // namespace nyb
