// random_damage.h - bytes spoilt at random, the same way each time.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace nyb::test {

struct Random {
  uint64_t s;
  uint64_t next() {
    s ^= s << 13;
    s ^= s >> 7;
    return s ^= s << 17;
  }
  uint64_t below(uint64_t n) { return next() % n; }
};

uint64_t edge(Random& r);  // one of the values at edges of what fields can hold

// One change within bytes `from` to `to`: a bit, a byte, a field of 4 or 8 bytes, or a stretch from elsewhere.
void damage(std::string& bytes, size_t from, size_t to, Random& r);

}  // namespace nyb::test
