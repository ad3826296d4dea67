// mxcsr.h - sets the float environment that the numerics ask for (nearest even, denormals kept, exceptions masked) and
// restores the caller's.
#pragma once
#include <xmmintrin.h>

namespace nyb {
class MxcsrScope {
 public:
  MxcsrScope() : saved_(_mm_getcsr()) { _mm_setcsr(0x1F80); }
  ~MxcsrScope() { _mm_setcsr(saved_); }
  MxcsrScope(const MxcsrScope&) = delete;
  MxcsrScope& operator=(const MxcsrScope&) = delete;

 private:
  unsigned saved_;
};
}  // namespace nyb
