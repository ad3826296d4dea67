// stage_clock.h - where the time of a step goes, as the thread that calls eng_step sees it. For measurements.
#pragma once
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "engine/pool.h"

namespace nyb {

// What a chunk of tokens goes through. Each holds what its par_for does: attend the quantization of its output, gate_up the
// activation and its quantization, o and down the sum with the residual stream, head the search for what is not finite.
enum class Stage : uint8_t {
  embed,    // rows of the embedding
  norm,     // norms, and the quantization of what they give
  qkv,      // products with q, k and v
  rope,     // positions turned into q and k, and keys and values put into the cache
  attend,   // attention
  o,        // product with o
  gate_up,  // products with gate and up
  down,     // product with down
  head,     // product with the head
};
inline constexpr size_t kStages = 9;

// Adds up the time between laps. While it lives, the pool measures its waits.
class StageClock {
 public:
  using Nanoseconds = std::chrono::nanoseconds;
  struct Time {
    Nanoseconds all{0}, waited{0};  // waited: the part of all that Pool::waited() grew by
  };

  explicit StageClock(Pool& pool) : pool_(pool) { pool_.time_waits(true); }
  ~StageClock() { pool_.time_waits(false); }
  StageClock(const StageClock&) = delete;
  StageClock& operator=(const StageClock&) = delete;

  void start() {
    last_ = Clock::now();
    waited_ = pool_.waited();
  }
  // What passed since start() or the last lap is of this stage.
  void lap(Stage s) {
    const Clock::time_point now = Clock::now();
    const Nanoseconds waited = pool_.waited();
    Time& t = times_[static_cast<size_t>(s)];
    t.all += now - last_;
    t.waited += waited - waited_;
    last_ = now;
    waited_ = waited;
  }
  const std::array<Time, kStages>& times() const { return times_; }

 private:
  using Clock = std::chrono::steady_clock;
  Pool& pool_;
  Clock::time_point last_;
  Nanoseconds waited_{0};
  std::array<Time, kStages> times_{};
};

}  // namespace nyb
