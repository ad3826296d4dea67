// read_plain.cpp - the read loop as a compiler makes it, with all that it does unasked (-O3, and as wide as the CPU allows): what
// the other loops have to stand beside. Nothing of it is used in a product.
#include "probe/read_loops.h"

namespace nyb {
namespace {

// These become part of their callers, with their instructions. From one place on:
[[gnu::always_inline]] inline uint64_t read_one(const uint64_t* w, size_t words) {
  constexpr size_t step = 32;  // enough loads in flight; divides 64, of which words is a multiple
  uint64_t sum[step] = {};
  for (size_t i = 0; i < words; i += step)
    for (size_t k = 0; k < step; ++k) sum[k] ^= w[i + k];
  uint64_t all = 0;
  for (const uint64_t s : sum) all ^= s;
  return all;
}

// From six places on, a line of each in turn.
[[gnu::always_inline]] inline uint64_t read_six(const uint64_t* w, size_t words) {
  constexpr size_t step = 8;
  const size_t each = words / 6 / step * step;
  uint64_t sum[step] = {};
  for (size_t i = 0; i < each; i += step)
    for (size_t k = 0; k < step; ++k) {
      const uint64_t* const p = w + i + k;
      sum[k] ^= p[0] ^ p[each] ^ p[2 * each] ^ p[3 * each] ^ p[4 * each] ^ p[5 * each];
    }
  uint64_t all = 0;
  for (size_t i = 6 * each; i < words; ++i) all ^= w[i];
  for (const uint64_t s : sum) all ^= s;
  return all;
}

// From one place on, while a line of each of the next eight pages is asked for in turn.
[[gnu::always_inline]] inline uint64_t read_pages(const uint64_t* w, size_t words) {
  constexpr size_t step = 32, turn = 64;  // 512 bytes a turn, a line for each of the pages
  constexpr uintptr_t page = 4096, chunk = 8 * page;
  uint64_t sum[step] = {};
  for (size_t i = 0; i < words; i += turn) {
    const uintptr_t place = reinterpret_cast<uintptr_t>(w + i) % chunk;
    const char* const next = reinterpret_cast<const char*>(w + i) - place + chunk + place / 8;
    for (size_t p = 0; p < 8; ++p) __builtin_prefetch(next + p * page);
    for (size_t k = 0; k < step; ++k) sum[k] ^= w[i + k] ^ w[i + step + k];
  }
  uint64_t all = 0;
  for (const uint64_t s : sum) all ^= s;
  return all;
}

const uint64_t* words_at(const void* p) { return static_cast<const uint64_t*>(p); }

uint64_t one_sse2(const void* p, size_t bytes) { return read_one(words_at(p), bytes / 8); }
uint64_t pages_sse2(const void* p, size_t bytes) { return read_pages(words_at(p), bytes / 8); }
uint64_t six_sse2(const void* p, size_t bytes) { return read_six(words_at(p), bytes / 8); }
[[gnu::target("avx2")]] uint64_t one_avx2(const void* p, size_t bytes) { return read_one(words_at(p), bytes / 8); }
[[gnu::target("avx2")]] uint64_t pages_avx2(const void* p, size_t bytes) { return read_pages(words_at(p), bytes / 8); }
[[gnu::target("avx2")]] uint64_t six_avx2(const void* p, size_t bytes) { return read_six(words_at(p), bytes / 8); }
[[gnu::target("avx512f")]] uint64_t one_avx512(const void* p, size_t bytes) { return read_one(words_at(p), bytes / 8); }
[[gnu::target("avx512f")]] uint64_t pages_avx512(const void* p, size_t bytes) { return read_pages(words_at(p), bytes / 8); }

}  // namespace

std::vector<ReadLoop> plain_loops(const CpuFeatures& cpu) {
  std::vector<ReadLoop> loops = {
      {"plain C++ (SSE2)", one_sse2}, {"plain C++ (SSE2), by pages", pages_sse2}, {"plain C++ (SSE2), 6 streams", six_sse2}};
  if (!cpu_missing(cpu, Path::avx2).empty()) return loops;
  const bool wide = cpu_missing(cpu, Path::avx512).empty();
  loops[0] = wide ? ReadLoop{"plain C++ (AVX-512)", one_avx512} : ReadLoop{"plain C++ (AVX2)", one_avx2};
  loops[1] = wide ? ReadLoop{"plain C++ (AVX-512), by pages", pages_avx512} : ReadLoop{"plain C++ (AVX2), by pages", pages_avx2};
  loops.push_back({"plain C++ (AVX2), 6 streams", six_avx2});
  return loops;
}

}  // namespace nyb
