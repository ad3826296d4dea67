// ref_mem.h - element access for the reference: kernels take any alignment, so an element is copied, never dereferenced.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace nyb::ref {

template <class T>
T get(const T* base, size_t i) {
  T v;
  std::memcpy(static_cast<void*>(&v), reinterpret_cast<const char*>(base) + i * sizeof(T), sizeof(T));
  return v;
}

template <class T>
void put(T* base, size_t i, T v) {
  std::memcpy(reinterpret_cast<char*>(base) + i * sizeof(T), static_cast<const void*>(&v), sizeof(T));
}

// Infinities and NaN have all exponent bits set.
inline uint32_t abs_bits(float f) { return std::bit_cast<uint32_t>(f) & 0x7fffffffu; }
inline bool finite_bits(float f) { return abs_bits(f) < 0x7f800000u; }

}  // namespace nyb::ref
