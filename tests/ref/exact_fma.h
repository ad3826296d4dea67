// exact_fma.h - a * b + c by whole numbers: the exact sum as a 704-bit integer in units of 2^-298, rounded once. Slow, and
// shares no idea with the reference's fma.
#pragma once

namespace nyb::test {
float exact_fma(float a, float b, float c);
}  // namespace nyb::test
