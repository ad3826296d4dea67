// run.h - runs one kernel through its cases: makes guarded inputs and outputs, calls through the checked call, compares with the
// reference, and collects what was found. Everything follows from the seed.
#pragma once
#include <array>
#include <cstring>
#include <deque>
#include <initializer_list>
#include <string>
#include <vector>

#include "kern/kernels.h"
#include "support/checked_call.h"
#include "support/guard.h"

namespace nyb::test {

// What the numbers of a case are like.
enum class Kind : uint8_t {
  normal,   // -2..2
  wide,     // exponents -20..20, both signs, some zeros of both signs
  tiny,     // denormals and numbers near the smallest normal one
  large,    // exponents up to 60, positive
  zero,     // +0 and -0
  halfway,  // sums whose exact value lies just beside the middle between two floats
  extreme,  // the ends of the integers: q +-127, weights -128, nibbles 0 and 15
  outlier,  // one huge number among small ones
};
const char* kind_name(Kind k);

using Shape = std::array<size_t, 3>;

class KernRun {
 public:
  // Where the buffers of a case lie.
  enum class Edge : uint8_t { end, start, gap };

  KernRun(Target target, uint64_t seed) : target_(std::move(target)), seed_(seed), rng_(seed) {}
  const Target& target() const { return target_; }

  // Opens a case: frees the buffers of the one before. All buffers lie flush with the edge; gap: buffer i lies
  // gap * (i + 1) mod 64 bytes after a guard page.
  void open(std::initializer_list<std::pair<const char*, size_t>> what, Kind kind);
  void place(Edge edge, unsigned gap = 0) {
    edge_ = edge;
    gap_ = gap;
  }

  uint64_t bits() { return next_random(rng_); }
  size_t below(size_t n) { return size_t(bits() >> 32) % n; }
  float number(Kind kind);
  std::vector<float> floats(size_t n, Kind kind);
  uint16_t f16(Kind kind);  // always finite

  template <class T>
  const T* in(const std::vector<T>& v) {
    return reinterpret_cast<const T*>(filled(v.data(), v.size() * sizeof(T)).read_only());
  }
  template <class T>
  T* inout(const std::vector<T>& v) {
    return reinterpret_cast<T*>(filled(v.data(), v.size() * sizeof(T)).data());
  }
  template <class T>
  T* out(size_t n) {
    GuardBuffer& b = buffer(n * sizeof(T));
    if (b.size()) memset(b.data(), 0xA7, b.size());  // an element left out is seen
    return reinterpret_cast<T*>(b.data());
  }

  // Calls the kernel under test; `proto`, its reference, gives the types.
  template <class R, class... P>
  R call(R (*proto)(P...), std::type_identity_t<P>... args) {
    (void)proto;
    const std::array<CallArg, sizeof...(P)> list{call_arg(args)...};
    const CallOutcome out = call_raw(list);
    if constexpr (std::is_same_v<R, float>) {
      return std::bit_cast<float>(out.xmm0);
    } else if constexpr (!std::is_void_v<R>) {
      return R(out.rax);
    }
  }

  // The bytes at `got` against the reference's. Nothing is said of a call that did not return.
  template <class T>
  void expect(const T* got, const std::vector<T>& want, const char* what) {
    compare(got, want.data(), want.size(), sizeof(T), what);
  }
  template <class T>
  void expect_value(T got, T want, const char* what) {
    compare(&got, &want, 1, sizeof(T), what);
  }
  void add(Check check, const std::string& text);

  const std::vector<Finding>& findings() const { return findings_; }
  bool full() const { return findings_.size() >= limit_; }  // enough to know: stop
  void limit(size_t findings) { limit_ = findings; }
  size_t calls() const { return calls_; }
  std::string report() const;

 private:
  GuardBuffer& buffer(size_t bytes);
  GuardBuffer& filled(const void* data, size_t bytes);
  CallOutcome call_raw(std::span<const CallArg> args);
  void compare(const void* got, const void* want, size_t n, size_t size, const char* what);
  std::string where() const;

  Target target_;
  uint64_t seed_, rng_;
  size_t calls_ = 0, limit_ = 8;
  bool returned_ = true;
  Edge edge_ = Edge::end;
  unsigned gap_ = 0;
  Kind kind_ = Kind::normal;
  std::vector<std::pair<const char*, size_t>> what_;
  std::deque<GuardBuffer> buffers_;
  std::vector<Finding> findings_;
};

template <class T>
bool same_bytes(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || memcmp(static_cast<const void*>(a.data()), b.data(), a.size() * sizeof(T)) == 0);
}

// Three numbers with a * b exactly in the middle between two floats and c a speck: a * b + c rounds by the sign of c. a has 14
// bits, b 11 (an f16 holds it); c is speck_a * speck_b, and speck_b is an f16 too.
struct Halfway {
  float a, b, speck_a, speck_b;
};
Halfway halfway(KernRun& run);

}  // namespace nyb::test
