// pool.cpp - how work is handed out: a range of pieces for each thread that may be awake, one 64-bit ticket each, which holds the
// next piece and the end.
//
// A thread takes the next pieces of its own range, so that what it reads is one stretch of memory and the prefetches at the end of
// a piece are for the next one; when it has none left it takes the last pieces of another's, so that a slow thread holds nobody up.
// It takes a third of what is left: few swaps at first, single pieces in the end, so that all threads are done at nearly the same
// time. Both move a ticket, to (next + k, end) or (next, end - k), with one compare-and-swap. Only after it owns a piece does a
// thread read what the job is. A job cannot end, and the next one cannot be written, before each owned piece is counted as done; so
// what a thread reads belongs to the pieces it owns, however late it comes. (That a ticket may have gone round to the same value in
// between does no harm: the swap then takes pieces of the job that is there now.)
//
// Whoever waits asks the memory for what its range begins with in a later job (soon). Each place is taken out of the range by
// whoever asks for it; which bytes come early into which cache is all that hangs on it.
#include "engine/pool.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "engine/ask_pages.h"
#include "engine/threads.h"
#include "kern/error.h"
#include "kern/mxcsr.h"

namespace nyb {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::microseconds kSpin{100};  // longer than the serial parts of a step, shorter than anyone notices
constexpr size_t kMaxPieces = UINT32_MAX;        // of one job

constexpr uint32_t next_of(uint64_t ticket) { return static_cast<uint32_t>(ticket >> 32); }
constexpr uint32_t end_of(uint64_t ticket) { return static_cast<uint32_t>(ticket); }
constexpr uint64_t ticket_of(uint64_t next, uint64_t end) { return next << 32 | end; }
// Of so many pieces of a range (1 or more), those that are taken at once.
constexpr uint32_t at_once(uint32_t left) { return (left - 1) / 3 + 1; }

struct Pieces {
  uint32_t first = 0, count = 0;
};

using Place = uintptr_t;  // 0: none; no pointer, for it may go past what is there

// NOLINTBEGIN(performance-no-int-to-ptr)
const void* pointer(Place p) { return reinterpret_cast<const void*>(p); }
// NOLINTEND(performance-no-int-to-ptr)
void prefetch(Place p) { _mm_prefetch(static_cast<const char*>(pointer(p)), _MM_HINT_T0); }

struct Told {
  std::array<Place, 2> soon{};
  bool fresh = false;  // no job has passed it on yet
};

struct alignas(64) Range {
  std::atomic<uint64_t> ticket{0};
  std::array<std::atomic<Place>, 2> soon{};
  bool left(std::memory_order order) const {
    const uint64_t t = ticket.load(order);
    return next_of(t) < end_of(t);
  }
};

// True as soon as ready() is; false after kSpin.
template <class Ready>
bool spin_until(Ready&& ready) {
  for (const auto start = Clock::now();;) {
    for (int i = 0; i < 64; i++) {
      if (ready()) return true;
      _mm_pause();
    }
    if (Clock::now() - start > kSpin) return false;
  }
}

}  // namespace

struct Pool::Impl {
  // A body, and how long the caller's thread (0) was in it.
  struct Timed {
    Body body;
    void* ctx;
    Clock::duration worked{0};
    static void run(void* self, size_t begin, size_t end, unsigned thread) {
      Timed& t = *static_cast<Timed*>(self);
      if (thread != 0) return t.body(t.ctx, begin, end, thread);
      const auto start = Clock::now();
      t.body(t.ctx, begin, end, thread);
      t.worked += Clock::now() - start;
    }
  };

  // the job; written by the caller while no piece is owned by anyone
  Body body = nullptr;
  void* ctx = nullptr;
  size_t first = 0, end = 0, grain = 1;
  std::vector<Range> ranges;  // of the threads that may be awake at once; set once

  alignas(64) std::atomic<uint32_t> done{0};  // pieces finished of this job, ...
  uint32_t pieces = 0;                        // ... which has so many; written with it
  std::vector<std::thread> workers;
  // `awake` counts the workers that are not asleep and the permits not yet taken; never more than most_awake. Workers begin
  // asleep; a sleeper needs a permit to get up, or, when it sees work as it lies down, room among the awake.
  alignas(64) std::atomic<uint32_t> awake{0};
  std::atomic<uint32_t> permits{0};
  std::atomic<size_t> asked{0};  // not among the job, which all threads read
  std::atomic<bool> stop{false};
  uint32_t most_awake = 0;  // workers, the caller not among them
  bool timed = false;       // time_waits
  std::chrono::nanoseconds waited{0};
  std::vector<Told> told;  // of each range; the caller's own

  bool work_left(std::memory_order order = std::memory_order_relaxed) const {
    return std::any_of(ranges.begin(), ranges.end(), [order](const Range& r) { return r.left(order); });
  }

  // Takes pieces of the thread's own range, or else of another's; none are left: 0 of them.
  Pieces take(unsigned thread) {
    for (size_t i = 0; i < ranges.size(); i++) {
      std::atomic<uint64_t>& ticket = ranges[(thread + i) % ranges.size()].ticket;
      uint64_t t = ticket.load(std::memory_order_relaxed);
      while (next_of(t) < end_of(t)) {
        const uint32_t next = next_of(t), last = end_of(t), count = at_once(last - next);
        const uint64_t taken = i == 0 ? ticket_of(next + count, last) : ticket_of(next, last - count);
        // acquire: the caller's writes of the job are seen; the swaps of others in between keep that order
        if (ticket.compare_exchange_weak(t, taken, std::memory_order_acquire, std::memory_order_relaxed))
          return {i == 0 ? next : last - count, count};
        _mm_pause();
      }
    }
    return {};
  }

  // Runs pieces until none is left; how many it ran.
  uint32_t run_pieces(unsigned thread) {
    uint32_t ran = 0;
    for (Pieces p = take(thread); p.count > 0; p = take(thread)) {
      const size_t begin = first + p.first * grain, more = end - begin;
      body(ctx, begin, begin + (more / grain < p.count ? more : p.count * grain), thread);
      ran += p.count;
    }
    return ran;
  }

  template <class Ready>
  void ask(unsigned thread, Ready&& ready) {
    for (std::atomic<Place>& soon : ranges[thread % ranges.size()].soon)
      if (soon.load(std::memory_order_relaxed))
        if (const Place at = soon.exchange(0, std::memory_order_relaxed))
          asked.fetch_add(ask_pages(at, kSoonBytes, prefetch, ready), std::memory_order_relaxed);
  }

  void help(unsigned thread) {
    if (!work_left()) return;
    const MxcsrScope scope;
    // The pieces a thread ran are counted together, and until then hold the job open.
    const uint32_t ran = run_pieces(thread);
    if (ran == 0) return;
    const uint32_t all = pieces;
    if (done.fetch_add(ran, std::memory_order_acq_rel) + ran == all) done.notify_one();
  }

  void work(unsigned thread) {
    const auto ready = [this] { return work_left() || stop.load(std::memory_order_relaxed); };
    for (bool up = false;;) {
      if (!up) take_permit();
      do {
        if (stop.load(std::memory_order_acquire)) return;
        help(thread);
        ask(thread, ready);
      } while (spin_until(ready));
      // This and the caller's publish-then-count are both sequentially consistent: one of the two sees the other.
      awake.fetch_sub(1, std::memory_order_seq_cst);
      up = work_left(std::memory_order_seq_cst) && raise_awake(1, most_awake) == 1;
    }
  }

  void take_permit() {
    for (;;) {
      uint32_t p = permits.load(std::memory_order_acquire);
      while (p > 0)
        if (permits.compare_exchange_weak(p, p - 1, std::memory_order_acquire)) return;
      permits.wait(0, std::memory_order_acquire);
    }
  }

  // Counts up to `more` further workers as awake, `limit` in all; how many.
  uint32_t raise_awake(uint32_t more, uint32_t limit) {
    uint32_t up = awake.load(std::memory_order_seq_cst), add = 0;
    do {
      add = up < limit ? std::min(more, limit - up) : 0;
    } while (add > 0 && !awake.compare_exchange_weak(up, up + add, std::memory_order_seq_cst));
    return add;
  }

  void wake(uint32_t wanted) {
    const uint32_t more = raise_awake(wanted, wanted);
    if (more == 0) return;
    permits.fetch_add(more, std::memory_order_release);
    for (uint32_t i = 0; i < more; i++) permits.notify_one();
  }

  // A job: [first, end) in count pieces, with the workers' help.
  void publish(size_t from, size_t to, size_t g, uint32_t count, Body f, void* c) {
    body = f;
    ctx = c;
    first = from;
    end = to;
    grain = g;
    pieces = count;
    done.store(0, std::memory_order_relaxed);
    for (uint64_t r = 0, n = ranges.size(); r < n; r++) {
      if (std::exchange(told[r].fresh, false))
        for (size_t i = 0; i < told[r].soon.size(); i++) ranges[r].soon[i].store(told[r].soon[i], std::memory_order_relaxed);
      ranges[r].ticket.store(ticket_of(count * r / n, count * (r + 1) / n), std::memory_order_seq_cst);
    }
    wake(std::min(count - 1, most_awake));
    const uint32_t mine = run_pieces(0);
    uint32_t have = done.fetch_add(mine, std::memory_order_acq_rel) + mine;
    const auto ready = [&] { return done.load(std::memory_order_acquire) == count; };
    if (have == count) return;
    ask(0, ready);
    if (spin_until(ready)) return;
    while ((have = done.load(std::memory_order_acquire)) != count) done.wait(have, std::memory_order_acquire);
  }

  // [0, n), n > 0 and grain > 0
  void run(size_t n, size_t g, Body f, void* c) {
    if (workers.empty() || most_awake == 0 || n <= g) {  // nobody to share with: no atomics
      for (size_t b = 0; b < n; b += std::min(g, n - b)) f(c, b, b + std::min(g, n - b), 0);
      return;
    }
    const size_t round = g > SIZE_MAX / kMaxPieces ? n : g * kMaxPieces;  // more pieces than a ticket can name: in rounds
    for (size_t b = 0; b < n;) {
      const size_t e = n - b > round ? b + round : n;
      publish(b, e, g, static_cast<uint32_t>((e - b - 1) / g + 1), f, c);
      b = e;
    }
  }

  void run_timed(size_t n, size_t g, Body f, void* c) {
    Timed timer{f, c};
    const auto start = Clock::now();
    run(n, g, Timed::run, &timer);
    waited += Clock::now() - start - timer.worked;
  }

  void shut() {
    stop.store(true, std::memory_order_release);
    permits.fetch_add(static_cast<uint32_t>(workers.size()), std::memory_order_release);
    permits.notify_all();
    for (std::thread& w : workers) w.join();
    workers.clear();
  }
};

Pool::Pool(unsigned threads, unsigned cpus) : impl_(std::make_unique<Impl>()) {
  if (threads == 0) throw Error("a pool needs at least 1 thread, not 0");
  if (cpus == 0) cpus = threads > 1 ? cpus_usable() : 1;
  impl_->most_awake = std::min(threads, cpus) - 1;
  impl_->ranges = std::vector<Range>(impl_->most_awake + 1);
  impl_->told.resize(impl_->ranges.size());
  impl_->workers.reserve(threads - 1);
  try {
    for (unsigned i = 1; i < threads; i++) impl_->workers.emplace_back([this, i] { impl_->work(i); });
  } catch (const std::system_error& e) {
    const size_t started = impl_->workers.size() + 1;
    impl_->shut();
    throw Error("the system starts only " + std::to_string(started) + " of " + std::to_string(threads) + " threads (" +
                e.code().message() + "): ask for fewer with --threads");
  }
}

Pool::~Pool() { impl_->shut(); }

unsigned Pool::threads() const { return static_cast<unsigned>(impl_->workers.size()) + 1; }

void Pool::run(size_t n, size_t grain, Body body, void* ctx) {
  if (n == 0) return;
  grain = std::max<size_t>(grain, 1);
  const MxcsrScope scope;
  impl_->timed ? impl_->run_timed(n, grain, body, ctx) : impl_->run(n, grain, body, ctx);
}

unsigned Pool::ranges() const { return static_cast<unsigned>(impl_->ranges.size()); }

size_t Pool::first_unit(size_t n, size_t grain, unsigned r) const {
  return ((n - 1) / grain + 1) * r / impl_->ranges.size() * grain;
}

void Pool::soon(unsigned r, const void* first, const void* second) {
  impl_->told[r] = {{reinterpret_cast<Place>(first), reinterpret_cast<Place>(second)}, true};
}

std::array<const void*, 2> Pool::told(unsigned r) const {
  return {pointer(impl_->told[r].soon[0]), pointer(impl_->told[r].soon[1])};
}

size_t Pool::asked() const { return impl_->asked.load(std::memory_order_relaxed); }

void Pool::time_waits(bool on) { impl_->timed = on; }
std::chrono::nanoseconds Pool::waited() const { return impl_->waited; }

}  // namespace nyb
