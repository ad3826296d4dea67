// splitmix.h - splitmix64 (Steele, Lea and Flood's; public domain): seeds, and values for measuring, the same everywhere.
#pragma once
#include <cstdint>

namespace nyb {

// The next number of the sequence whose state this is. Any state is a good one.
inline uint64_t splitmix64(uint64_t& state) {
  uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

// -1..1
inline float splitmix_unit(uint64_t& state) {
  return static_cast<float>(static_cast<int32_t>(splitmix64(state) >> 40) - (1 << 23)) * 0x1p-23f;
}

}  // namespace nyb
