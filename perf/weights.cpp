// weights.cpp - random matrices, and the vectors around them.
#include "weights.h"
#include <fmt/format.h>
#include <sys/mman.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include "kern/error.h"
#include "kern/splitmix.h"
#include "model/random_model.h"

namespace nyb {
namespace {

constexpr uint64_t kInputSeed = 1;

}  // namespace

std::string gemv_name(TType t) {
  std::string s = "gemv_";
  for (const char c : ttype_name(t))
    if (c != '_') s += c == 'K' ? 'k' : c;
  return s;
}

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
  random_matrix_bytes(t, rows, cols, reinterpret_cast<uint8_t*>(at), seed);
  return w;
}

Vectors::Vectors(size_t cols, size_t rows, size_t tokens)
    : y_stride(row_stride<float>(rows)),
      x(cols * tokens),
      y("the products' output", {y_stride, tokens}),
      groups(groups_of(cols) * tokens),
      tokens_(tokens) {
  uint64_t state = kInputSeed;
  for (float& v : x) v = splitmix_unit(state);
  for (size_t t = 0; t < tokens; ++t) kern_table(Path::ref).qx_vec(x.data() + t * cols, groups.data() + t * groups_of(cols), cols);
}

}  // namespace nyb
