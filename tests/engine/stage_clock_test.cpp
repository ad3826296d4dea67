// stage_clock_test.cpp - the stages of a step add up, and looking at the clock changes nothing.
#include "engine/stage_clock.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "engine/engine.h"
#include "paths.h"
#include "weights.h"

namespace nyb::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::steady_clock;

std::vector<float> logits_of(const Model& m, Pool& pool, StageClock* clock) {
  EngOptions o;
  o.chunk = 2;
  o.clock = clock;
  Engine e(m, kern_table(runnable_paths().back()), pool, o);
  std::vector<float> logits(size_t{5} * m.shape.vocab);
  eng_step(e, std::vector<int32_t>{1, 2, 3, 4, 5}, 0, logits);
  return logits;
}

TEST(StageClock, TheStagesAreTheStep) {
  const auto m = make_model(
      random_weights({.layers = 3, .dim = 48, .heads = 4, .kv_heads = 2, .head_dim = 12, .ffn = 80, .vocab = 61, .ctx = 40}, true,
                     1),
      all(TType::q8));
  for (const unsigned threads : {1u, 2u}) {
    Pool pool(threads, threads);
    const std::vector<float> plain = logits_of(*m, pool, nullptr);
    StageClock clock(pool);
    const auto start = steady_clock::now();
    const std::vector<float> timed = logits_of(*m, pool, &clock);
    const nanoseconds whole = steady_clock::now() - start;
    EXPECT_EQ(std::memcmp(plain.data(), timed.data(), plain.size() * sizeof(float)), 0);
    nanoseconds sum{0};
    for (size_t i = 0; i < kStages; i++) {
      const StageClock::Time& t = clock.times()[i];
      EXPECT_GT(t.all.count(), 0) << "stage " << i;
      EXPECT_GE(t.waited.count(), 0) << "stage " << i;
      EXPECT_LE(t.waited, t.all) << "stage " << i;
      sum += t.all;
    }
    EXPECT_LE(sum, whole);
  }
}

// The caller's own pieces are no waiting; what is beyond them is.
TEST(Pool, MeasuresItsWaits) {
  constexpr milliseconds kNap{20};
  for (const unsigned threads : {1u, 2u}) {
    Pool pool(threads, threads);
    const auto nap = [&] {
      std::atomic<unsigned> begun{0};
      par_for(pool, threads, 1, [&](size_t, size_t, unsigned thread) {  // each thread one piece
        begun++;
        while (begun < threads) std::this_thread::yield();
        if (thread == 0) std::this_thread::sleep_for(kNap);
      });
    };
    nap();
    EXPECT_EQ(pool.waited().count(), 0) << "not asked to";
    pool.time_waits(true);
    const auto start = steady_clock::now();
    nap();
    const nanoseconds whole = steady_clock::now() - start;
    EXPECT_GT(pool.waited().count(), 0);
    EXPECT_LE(pool.waited(), whole - kNap) << "the piece of the caller is none";
  }
}

}  // namespace
}  // namespace nyb::test
