// buffer.h - zeroed memory on 64 bytes, its size computed without overflow.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <limits>
#include <memory>
#include <string>

#include "kern/error.h"

namespace nyb {

inline constexpr size_t kAlign = 64;

constexpr size_t round_up(size_t n, size_t to) { return n % to == 0 ? n : n + (to - n % to); }

// From one row of `width` elements to the next, in an array of several. Of floats it is an odd number of lines of 64 bytes, so that
// no two of 64 rows that products load and store in turn are in the same place of a page, where a load waits for the other row's
// store.
template <class T>
constexpr size_t row_stride(size_t width) {
  constexpr size_t line = kAlign / sizeof(T);
  return kAlign % sizeof(T) == 0 ? (round_up(width, line) / line | 1) * line : width;
}

// An array of T (a plain type), all bytes zero. Memory that is never touched costs nothing: large blocks come from the system
// as untouched zero pages.
template <class T>
class Buffer {
 public:
  Buffer() = default;
  // As many elements as the product of `sizes`. Throws Error, naming `what`, when there is no such memory.
  Buffer(const char* what, std::initializer_list<size_t> sizes) : size_(1) {
    constexpr size_t most = (static_cast<size_t>(std::numeric_limits<ptrdiff_t>::max()) - kAlign) / sizeof(T);
    bool fits = true;
    for (const size_t s : sizes) {
      fits = fits && (s == 0 || size_ <= most / s);
      size_ = fits ? size_ * s : size_;
    }
    if (!fits) throw Error(std::string(what) + " would need more memory than a program can address");
    memory_.reset(std::calloc(bytes() + kAlign, 1));
    if (!memory_) throw Error(std::string(what) + " needs " + std::to_string(bytes()) + " bytes, which the system does not have");
    const auto address = reinterpret_cast<uintptr_t>(memory_.get());
    data_ = reinterpret_cast<T*>(static_cast<char*>(memory_.get()) + (kAlign - address % kAlign) % kAlign);
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  T* at(size_t i) { return data_ + i; }
  const T* at(size_t i) const { return data_ + i; }
  size_t size() const { return size_; }
  size_t bytes() const { return size_ * sizeof(T); }

 private:
  struct Free {
    void operator()(void* p) const { std::free(p); }
  };
  std::unique_ptr<void, Free> memory_;
  T* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace nyb
