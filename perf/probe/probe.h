// probe.h - what memory gives to a program that only reads: the ceiling of everything that streams weights.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>
#include "engine/pool.h"
#include "probe/read_loops.h"

namespace nyb {

// Memory of the kind that weights lie in.
class ProbeMemory {
 public:
  // file: a file of the page cache, mapped as a model is (--load map); huge: anonymous memory with 2 MiB pages (--load
  // huge).
  enum class Kind : uint8_t { file, huge };
  // Filled, so that every page is there. Throws Error where there is not that much memory or room on the disk.
  ProbeMemory(size_t bytes, Kind kind);
  ~ProbeMemory();
  ProbeMemory(const ProbeMemory&) = delete;
  ProbeMemory& operator=(const ProbeMemory&) = delete;
  std::span<const std::byte> bytes() const { return {data_, size_}; }
  Kind kind() const { return kind_; }

 private:
  std::byte* data_ = nullptr;
  size_t size_ = 0;
  Kind kind_;
};
std::string_view probe_kind_name(ProbeMemory::Kind k);  // "mapped file", "2 MiB pages"

// Enough for the last caches to be of no use: four times all of them, and 256 MiB at least; less where free memory is scarce.
struct ProbeSize {
  size_t bytes = 0, wanted = 0, free = 0;
  std::string note() const;  // says so where it is less; else empty
};
ProbeSize probe_size(const std::string& root = "");  // root: as last_cache() has it

struct LoopSpeed {
  std::string loop;
  bool plain;                   // in C++
  std::vector<double> samples;  // GB/s, a round each
  double best = 0, median = 0;
};

// Reads all of the memory with every loop this CPU has, and with those in plain C++, in turn, `rounds` times; returns them, the
// fastest (by its median) first. Throws Error where a loop did not read all of it, or claims more than the load ports of so many
// cores can move; Interrupted.
std::vector<LoopSpeed> probe(std::span<const std::byte> memory, Pool& pool, unsigned rounds);

// The loops of our own beside those in plain C++: the fastest of each, and the median of the rounds' ratios.
struct PlainSpeed {
  std::string loop;
  double median = 0;  // GB/s
  double ratio = 0;   // ours / plain; 0: there is none of our own
};
PlainSpeed beside_plain(const std::vector<LoopSpeed>& loops);

// Readings together: what was read, and how long it took.
struct ReadTime {
  double bytes = 0, seconds = 0;
  double gbs() const { return seconds > 0 ? bytes * 1e-9 / seconds : 0; }
  ReadTime& operator+=(const ReadTime& o);
};

// Readings of all of the memory by the loop of that name until they took `least` seconds; one at least. Throws as probe() does.
ReadTime read_for(double least, std::string_view loop, std::span<const std::byte> memory, Pool& pool);

// One reading, in GB/s.
inline double read_speed(std::string_view loop, std::span<const std::byte> memory, Pool& pool) {
  return read_for(0, loop, memory, pool).gbs();
}

// The clock of this thread's core right now in GHz, by a chain of dependent additions; a bound on what it can do, not a promise.
double core_ghz();

double median(std::vector<double> v);  // of an empty one: 0

}  // namespace nyb
