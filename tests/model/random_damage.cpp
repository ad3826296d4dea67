#include "random_damage.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace nyb::test {
namespace {

// Values that stand at edges of what fields can hold.
constexpr uint64_t kEdges[] = {0,
                               1,
                               2,
                               3,
                               7,
                               15,
                               16,
                               17,
                               31,
                               63,
                               64,
                               65,
                               127,
                               128,
                               255,
                               256,
                               4095,
                               4096,
                               4097,
                               65535,
                               65536,
                               0x7fffffff,
                               0x80000000,
                               0xffffffff,
                               0x100000000,
                               uint64_t{1} << 62,
                               (uint64_t{1} << 63) - 1,
                               uint64_t{1} << 63,
                               UINT64_MAX - 63,
                               UINT64_MAX - 7,
                               UINT64_MAX - 1,
                               UINT64_MAX};

}  // namespace

uint64_t edge(Random& r) { return kEdges[r.below(std::size(kEdges))]; }

void damage(std::string& b, size_t from, size_t to, Random& r) {
  const size_t at = from + r.below(to - from);
  switch (r.below(5)) {
    case 0: b[at] = static_cast<char>(b[at] ^ (1 << r.below(8))); break;
    case 1: b[at] = static_cast<char>(r.next()); break;
    case 2:
    case 3: {  // a whole field
      const size_t width = r.below(2) ? 8 : 4, start = at / width * width;
      if (start < from || start + width > to) break;
      uint64_t v = edge(r);
      if (r.below(3) == 0) {
        std::memcpy(&v, b.data() + start, width);
        v += r.below(2) ? r.below(130) : 0 - r.below(130);
      }
      std::memcpy(b.data() + start, &v, width);
      break;
    }
    default: {  // a stretch from elsewhere
      const size_t n = std::min<size_t>(1 + r.below(140), to - at), src = from + r.below(to - from - n + 1);
      std::memmove(b.data() + at, b.data() + src, n);
    }
  }
}

}  // namespace nyb::test
