// pool_test.cpp - every piece once, whoever runs it.
#include "engine/pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "engine/ask_pages.h"
#include "kern/error.h"
#include "kern/mxcsr.h"

namespace nyb {
namespace {

using std::chrono::milliseconds;

// Runs one job and checks everything that the contract says of its pieces.
void check_job(Pool& pool, size_t n, size_t grain) {
  SCOPED_TRACE(testing::Message() << pool.threads() << " threads, n " << n << ", grain " << grain);
  std::vector<std::atomic<int>> hits(n), busy(pool.threads());
  std::atomic<int> bad{0};
  par_for(pool, n, grain, [&](size_t b, size_t e, unsigned t) {
    if (t >= pool.threads() || b >= e || e > n || b % grain != 0 || (e % grain != 0 && e != n)) {
      bad++;
      return;
    }
    if (busy[t]++ != 0) bad++;  // two pieces under one number at a time
    for (size_t i = b; i < e; i++) hits[i]++;
    busy[t]--;
  });
  EXPECT_EQ(bad, 0);
  for (size_t i = 0; i < n; i++) ASSERT_EQ(hits[i], 1) << i;
}

TEST(Pool, RunsEveryPieceOnce) {
  for (const unsigned threads : {1u, 2u, 3u, 7u}) {
    for (const unsigned cpus : {0u, 1u, threads}) {
      Pool pool(threads, cpus);
      EXPECT_EQ(pool.threads(), threads);
      for (const size_t n : {size_t{0}, size_t{1}, size_t{2}, size_t{7}, size_t{100}, size_t{1000}})
        for (const size_t grain : {size_t{1}, size_t{3}, size_t{1000}, SIZE_MAX}) check_job(pool, n, grain);
    }
  }
}

// Whatever the timing: a thread's own pieces come one after the other from its range's beginning, those of others from their ends,
// a third of what is left at a time.
TEST(Pool, AThreadGoesThroughAStretchOfItsOwn) {
  for (const unsigned threads : {2u, 3u, 5u}) {
    Pool pool(threads, threads);
    ASSERT_EQ(pool.ranges(), threads);
    for (const size_t n : {size_t{1}, size_t{threads}, size_t{64}, size_t{101}})
      for (int round = 0; round < 20; round++) {
        std::vector<std::vector<std::pair<size_t, size_t>>> ran(threads);
        par_for(pool, n, 1, [&](size_t b, size_t e, unsigned t) {
          ran[t].emplace_back(b, e);
          std::this_thread::sleep_for(std::chrono::microseconds(10));  // the others come, and pieces are left to take
        });
        size_t takes = 0, taken = 0;
        for (const auto& r : ran) takes += r.size();
        for (size_t r = 0; r < threads; r++)
          for (size_t left = n * (r + 1) / threads - n * r / threads; left > 0; taken++) left -= (left - 1) / 3 + 1;
        ASSERT_EQ(takes, taken);
        const auto range_of = [&](size_t piece) {
          size_t r = 0;
          while (n * (r + 1) / threads <= piece) r++;
          return r;
        };
        for (unsigned t = 0; t < threads; t++) {
          size_t own = pool.first_unit(n, 1, t);
          std::vector<size_t> last(threads, SIZE_MAX);
          for (const auto& [b, e] : ran[t]) {
            const size_t r = range_of(b), begin = n * r / threads, end = n * (r + 1) / threads;
            ASSERT_LE(e, end) << "pieces of two ranges";
            ASSERT_LE(e - b, (end - begin - 1) / 3 + 1);
            if (r == t)
              ASSERT_EQ(b, std::exchange(own, e));
            else
              ASSERT_LE(e, std::exchange(last[r], b));
          }
        }
      }
  }
}

// Whoever waits asks for what its own range begins with, once; whoever does not wait asks for nothing.
TEST(Pool, WaitingThreadsAskForWhatComesSoon) {
  constexpr size_t kTwo = 2 * Pool::kSoonBytes;
  Pool pool(2, 2);
  std::vector<char> memory(Pool::kSoonBytes);
  // Each thread runs one piece, and one of them holds its own until so much has been asked for, or where it has, for a while.
  const auto asked_when = [&](unsigned slow, size_t wanted) {
    std::atomic<unsigned> begun{0};
    par_for(pool, 2, 1, [&](size_t, size_t, unsigned t) {
      begun++;
      while (begun < 2) std::this_thread::yield();
      for (int i = 0; t == slow && (i < 5 || (pool.asked() < wanted && i < 20000)); i++)
        std::this_thread::sleep_for(milliseconds(1));
    });
    return pool.asked();
  };
  EXPECT_EQ(asked_when(0, 0), 0u) << "told of nothing";
  pool.soon(1, memory.data(), memory.data());
  EXPECT_EQ(asked_when(0, kTwo), kTwo) << "thread 1 waits";
  EXPECT_EQ(asked_when(0, kTwo), kTwo) << "it has asked";
  pool.soon(0, memory.data(), nullptr);
  EXPECT_EQ(pool.told(0), (std::array<const void*, 2>{memory.data(), nullptr}));
  pool.soon(0, memory.data(), memory.data());
  EXPECT_EQ(asked_when(1, 2 * kTwo), 2 * kTwo) << "thread 0 waits, for what it was told last";
  EXPECT_EQ(asked_when(1, 2 * kTwo), 2 * kTwo);
}

TEST(Pool, TellsWhereARangeBegins) {
  const Pool pool(3, 3);
  for (const auto& [r, first] : {std::pair{0u, 0u}, {1u, 33u}, {2u, 66u}})
    EXPECT_EQ(pool.first_unit(101, 3, r), first) << "34 pieces: 0 to 10, 11 to 21, 22 to 33";
  EXPECT_EQ(pool.first_unit(2, 5, 2), 0u) << "a single piece";
}

TEST(Pool, PanelsThatGoTogetherAreCutApartOnlyWhereThreadsWouldHaveTooFew) {
  const Pool one(1), two(2), eight(8);
  EXPECT_EQ(panel_grain(two, 560, 2), 10u) << "64 pieces, to even panels";
  EXPECT_EQ(panel_grain(two, 560, 6), 12u);
  EXPECT_EQ(panel_grain(two, 56, 6), 6u);
  EXPECT_EQ(panel_grain(two, 48, 6), 6u) << "four pieces a thread";
  EXPECT_EQ(panel_grain(two, 47, 6), 2u);
  EXPECT_EQ(panel_grain(eight, 192, 6), 6u);
  EXPECT_EQ(panel_grain(eight, 191, 6), 2u);
  EXPECT_EQ(panel_grain(one, 560, 6), 564u) << "one piece";
}

TEST(AskPages, GoesThroughAllPagesAtOnce) {
  constexpr uintptr_t kAt = 1 << 20;
  std::vector<uintptr_t> lines, want;
  const auto ask = [&](uintptr_t p) { lines.push_back(p - kAt); };
  EXPECT_EQ(ask_pages(kAt, size_t{3} * 4096, ask, [] { return false; }), 3u * 4096);
  for (uintptr_t line = 0; line < 64; line++)
    for (uintptr_t page = 0; page < 3; page++) want.push_back(4096 * page + 64 * line);
  EXPECT_EQ(lines, want);
  lines.clear();
  EXPECT_EQ(ask_pages(kAt, size_t{3} * 4096, ask, [&] { return lines.size() > 3; }), 6u * 64) << "done after two rounds";
  EXPECT_EQ(lines.size(), 6u);
  EXPECT_EQ(ask_pages(kAt, 4096, ask, [] { return true; }), 0u);
}

TEST(Pool, HandsOutMorePiecesThanATicketHolds) {
  // far apart indices, so that the pieces are counted and not run through
  Pool pool(2, 2);
  constexpr size_t grain = size_t{1} << 40, n = grain * 1000 + 17;
  std::atomic<size_t> sum{0}, pieces{0};
  par_for(pool, n, grain, [&](size_t b, size_t e, unsigned) {
    sum += e - b;
    pieces += (e - b - 1) / grain + 1;
  });
  EXPECT_EQ(sum, n);
  EXPECT_EQ(pieces, 1001u);
}

// Jobs of different sizes and bodies one right after the other: a worker that comes late must not run a piece of the job
// before, nor this one's twice.
TEST(Pool, KeepsManyJobsApart) {
  for (const unsigned threads : {2u, 4u}) {
    Pool pool(threads, threads);
    for (int job = 0; job < 20000; job++) {
      const size_t n = 1 + static_cast<size_t>(job % 13), grain = 1 + static_cast<size_t>(job % 3);
      std::atomic<size_t> sum{0};
      par_for(pool, n, grain, [&, job](size_t b, size_t e, unsigned) {
        for (size_t i = b; i < e; i++) sum += i + static_cast<size_t>(job);
      });
      ASSERT_EQ(sum, n * (n - 1) / 2 + n * static_cast<size_t>(job)) << job;
      if (job % 4000 == 0) std::this_thread::sleep_for(milliseconds(1));  // the workers fall asleep
    }
  }
}

// The results of a job are seen by the caller, and what the caller wrote before by the job (the thread sanitizer checks it too).
TEST(Pool, PassesMemoryOn) {
  Pool pool(3, 3);
  std::vector<int> plain(300, 0);
  for (int job = 1; job <= 300; job++) {
    for (int& p : plain) p = job;
    par_for(pool, plain.size(), 7, [&](size_t b, size_t e, unsigned) {
      for (size_t i = b; i < e; i++) plain[i] *= 2;
    });
    for (const int p : plain) ASSERT_EQ(p, 2 * job);
  }
}

// All threads take part, also when they had gone to sleep: each piece waits (a while) until as many have begun.
TEST(Pool, WakesItsThreads) {
  for (const unsigned threads : {2u, 3u, 7u}) {
    Pool pool(threads, threads);
    for (int round = 0; round < 3; round++) {
      std::this_thread::sleep_for(milliseconds(2));
      std::atomic<unsigned> begun{0};
      std::vector<std::atomic<int>> ran(threads);
      par_for(pool, threads, 1, [&](size_t, size_t, unsigned t) {
        begun++;
        ran[t]++;
        for (int i = 0; i < 5000 && begun < threads; i++) std::this_thread::sleep_for(milliseconds(1));
      });
      for (const auto& r : ran) EXPECT_EQ(r, 1) << threads;
    }
  }
}

TEST(Pool, KeepsNoMoreThreadsAwakeThanAllowed) {
  Pool pool(7, 2);
  std::this_thread::sleep_for(milliseconds(5));
  std::atomic<int> now{0}, most{0};
  for (int round = 0; round < 50; round++) {
    par_for(pool, 100, 1, [&](size_t, size_t, unsigned) {
      const int n = ++now;
      int m = most;
      while (n > m && !most.compare_exchange_weak(m, n)) {}
      std::this_thread::sleep_for(std::chrono::microseconds(20));
      now--;
    });
  }
  EXPECT_LE(most, 2);
}

TEST(Pool, RunsUnderItsOwnFloatEnvironment) {
  const unsigned before = _mm_getcsr();
  constexpr unsigned odd = 0x1F80 | 0x8000 | 0x0040 | 0x6000;  // denormals flushed, rounding to zero
  _mm_setcsr(odd);
  {
    Pool pool(3, 3);
    std::atomic<unsigned> seen{0};
    std::atomic<int> wrong{0};
    par_for(pool, 3, 1, [&](size_t, size_t, unsigned) {
      if (_mm_getcsr() != 0x1F80) wrong++;
      seen++;
      while (seen < 3) std::this_thread::yield();  // so that every thread is asked
    });
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(_mm_getcsr(), odd);
    par_for(pool, 1, 1, [&](size_t, size_t, unsigned) { wrong += _mm_getcsr() != 0x1F80; });
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(_mm_getcsr(), odd);
  }
  _mm_setcsr(before);
}

TEST(Pool, RefusesNoThreads) { EXPECT_THROW(Pool(0), Error); }

// Seconds for a fixed amount of work in many small jobs.
double time_jobs(Pool& pool) {
  const auto start = std::chrono::steady_clock::now();
  for (int job = 0; job < 300; job++) {
    par_for(pool, 64, 1, [](size_t b, size_t e, unsigned) {
      std::atomic<size_t> x{b};
      for (size_t i = 0; i < 500 * (e - b); i++) x.store(x.load(std::memory_order_relaxed) * 3 + 1, std::memory_order_relaxed);
    });
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// More threads than CPUs: about as fast as just enough. (Generous, and longer where the machine is busy: each may have met a CPU
// that others held. A pool whose threads all spin is slower by far more than this, however long.)
TEST(Pool, DoesNotCollapseWhenOversubscribed) {
  Pool few(2), many(8);
  double best_few = 1e9, best_many = 1e9;
  for (int i = 0; i < 9 || (i < 50 && best_many >= best_few * 2); i++) {
    best_few = std::min(best_few, time_jobs(few));
    best_many = std::min(best_many, time_jobs(many));
  }
  EXPECT_LT(best_many, best_few * 2);
}

}  // namespace
}  // namespace nyb
