// weights.cpp - random matrices, and the vectors around them.
#include "weights.h"
#include <fmt/format.h>
#include <sys/mman.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include "kern/error.h"
#include "kern/splitmix.h"

namespace nyb {
namespace {

struct Random {
  uint64_t state;
  uint64_t next() { return splitmix64(state); }
  float unit() { return static_cast<float>(static_cast<int32_t>(next() >> 40) - (1 << 23)) * 0x1p-23f; }  // -1..1
};

void fill_bytes(std::byte* p, size_t bytes, Random& random) {
  size_t at = 0;
  for (; at + 8 <= bytes; at += 8) {
    const uint64_t word = random.next();
    std::memcpy(p + at, &word, 8);
  }
  const uint64_t word = random.next();
  std::memcpy(p + at, &word, bytes - at);
}

// middle - reach to middle + reach
void fill_floats(std::byte* p, size_t bytes, float middle, float reach, Random& random) {
  for (size_t at = 0; at + 4 <= bytes; at += 4) {
    const float w = middle + reach * random.unit();
    std::memcpy(p + at, &w, 4);
  }
}

}  // namespace

Memory::Memory(size_t bytes, Pages pages) : size_(bytes) {
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED)
    throw Error(fmt::format("{} MiB of memory are not to be had ({}); ask for less", bytes >> 20, std::strerror(errno)));
  data_ = static_cast<std::byte*>(p);
  // only advice: where the system does not follow it, both loops still read the same memory
  (void)madvise(p, bytes, pages == Pages::huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
}

Memory::~Memory() { munmap(data_, size_); }

size_t weight_bytes(TType t, size_t rows, size_t cols) { return (tensor_bytes(t, rows, cols) + 63) / 64 * 64; }

Tensor random_matrix(TType t, size_t rows, size_t cols, std::byte* at, uint64_t seed) {
  Tensor w;
  w.type = t;
  w.rows = rows;
  w.cols = cols;
  w.data = reinterpret_cast<const uint8_t*>(at);
  w.bytes = tensor_bytes(t, rows, cols);
  Random random{seed};
  const size_t panels = panels_of(rows) * panel_bytes(t, cols);
  if (t == TType::f32) {
    fill_floats(at, panels, 0.0f, 1.0f, random);
    return w;
  }
  fill_bytes(at, panels, random);
  if (t == TType::q8) fill_floats(at + panels, w.bytes - panels, 0.5f, 0.25f, random);
  if (t == TType::q4)
    for (size_t group = 0; group < panels; group += kQ4GroupBytes)
      for (size_t row = 0; row < kPanelRows; ++row) {
        const auto scale = static_cast<uint16_t>(0x1c00u | (random.next() >> 54));  // f16: 2^-8 to 2^-7
        std::memcpy(at + group + kQ4NibbleBytes + 2 * row, &scale, 2);
      }
  return w;
}

Vectors::Vectors(size_t cols, size_t rows) : x(cols), y(rows), groups(groups_of(cols)) {
  Random random{1};
  for (float& v : x) v = random.unit();
  kern_table(Path::ref).qx_vec(x.data(), groups.data(), cols);
}

// The C library's sysconf multiplies by the number of threads on some CPUs, so the kernel's own list is read.
size_t last_cache_bytes() {
  size_t most = 0;
  for (int index = 0; index < 8; ++index) {
    std::ifstream file(fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/size", index));
    size_t kib = 0;
    if (file >> kib) most = std::max(most, kib << 10);  // "32768K"
  }
  return most;
}

}  // namespace nyb
