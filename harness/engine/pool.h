// pool.h - threads that wait for work: par_for.
#pragma once
#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <type_traits>

namespace nyb {

// A fixed set of threads, the caller included. Workers spin briefly after a job, then sleep. One par_for at a time; not
// reentrant. Every thread runs jobs under MXCSR 0x1F80.
//
// The caller works too and waits only for pieces that a worker has taken (a third of a range at most): a sleeping worker, or one
// that is descheduled between jobs, holds nothing up.
// Of more threads than CPUs only as many as there are CPUs are awake at once, so asking for too many costs little.
class Pool {
 public:
  // threads >= 1; threads - 1 are started. cpus: how many may be awake at once; 0: the CPUs that this process may use
  // (cpus_usable of threads.h). Throws Error when threads is 0 or the system refuses to start one.
  explicit Pool(unsigned threads, unsigned cpus = 0);
  ~Pool();
  unsigned threads() const;
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  using Body = void (*)(void* ctx, size_t begin, size_t end, unsigned thread);
  // Calls body over [0, n), which is cut into pieces of `grain` (>= 1; the last may be smaller), one piece or several that follow
  // one another at a time; returns when all are done. `thread` is below threads(), and body never runs twice under one number at a
  // time (so it can index scratch memory). body must not throw.
  void run(size_t n, size_t grain, Body body, void* ctx);

  // A job's pieces are dealt to so many ranges, one for each thread that may be awake at once.
  unsigned ranges() const;
  // Where range r < ranges() begins in a job of n units in pieces of `grain`, both >= 1.
  size_t first_unit(size_t n, size_t grain, unsigned r) const;
  // What is read first of range r in a later job than the one that comes: up to two places, or nullptr. Told between jobs; the next
  // job that is shared passes it on, and who waits for others from then on asks the memory for kSoonBytes of each, once: they are
  // on their way while nothing else is. Asking is no access, so nothing need be there.
  void soon(unsigned r, const void* first, const void* second);
  static constexpr size_t kSoonBytes = size_t{64} << 10;  // 32 KiB gain less, 128 KiB no more
  std::array<const void*, 2> told(unsigned r) const;      // what soon() was told last
  size_t asked() const;                                   // bytes, by all threads so far

  // For measurements: whether run() takes the time. waited() is what the runs took so far beyond the pieces that the caller's
  // thread ran in them: handing work out, and waiting for the other threads.
  void time_waits(bool on);
  std::chrono::nanoseconds waited() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The grain for `units` of work: enough pieces that nobody waits long for the last one.
inline size_t par_grain(const Pool& pool, size_t units) {
  const size_t pieces = pool.threads() == 1 ? 1 : size_t{pool.threads()} * 32;
  return (units + pieces - 1) / pieces;
}

// The same for panels of a matrix: a multiple of `together` where that leaves every thread some pieces; at least even, since
// products with several tokens take panels in pairs, and two make a group of what is computed.
inline size_t panel_grain(const Pool& pool, size_t panels, size_t together) {
  if (panels < size_t{pool.threads()} * together * 4) together = 2;
  return (par_grain(pool, panels) + together - 1) / together * together;
}

// f(begin, end, thread) over pieces of [0, n), as Pool::run has it. Which thread runs which piece decides no bit of the result.
template <class F>
void par_for(Pool& pool, size_t n, size_t grain, F&& f) {
  using Fn = std::remove_reference_t<F>;
  pool.run(
      n, grain, [](void* c, size_t b, size_t e, unsigned t) { (*static_cast<Fn*>(c))(b, e, t); }, &f);
}

}  // namespace nyb
