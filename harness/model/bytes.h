// bytes.h - little-endian values in bytes, at any alignment. The hosts of this project are little endian themselves.
#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

namespace nyb {
static_assert(std::endian::native == std::endian::little, "model files are read in place");

template <class T>
T get_le(const uint8_t* p) {
  static_assert(std::is_trivially_copyable_v<T>);
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

template <class T>
void put_le(std::string& out, T v) {
  static_assert(std::is_trivially_copyable_v<T>);
  char b[sizeof v];
  std::memcpy(b, &v, sizeof v);
  out.append(b, sizeof v);
}

constexpr uint64_t align64(uint64_t n) { return (n + 63) & ~uint64_t{63}; }

}  // namespace nyb
