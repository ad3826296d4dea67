// source.cpp - values of a source as floats, and its pages given back.
#include "model/source.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "kern/f16.h"
#include "model/bytes.h"
#include "model/dequant.h"

namespace nyb {

namespace {

// A block is taken apart whole, and of its values the wanted ones are copied.
void read_blocks(const SourceTensor& t, uint64_t first, uint64_t n, float* out) {
  const GgmlBlock& b = ggml_block(t.block);
  float values[256];
  for (uint64_t done = 0; done < n;) {
    const uint64_t i = first + done, from = i % b.values, count = std::min(b.values - from, n - done);
    ggml_floats(ggml_unpack(t.block, t.data + i / b.values * b.bytes), values);
    std::memcpy(out + done, values + from, count * sizeof(float));
    done += count;
  }
}

void read_nibbles(const SourceTensor& t, uint64_t first, uint64_t n, float* out) {
  for (uint64_t i = first; i < first + n; i++) {
    const uint64_t group = i / kGroup, in = i % kGroup, half = kGroup / 2;
    const int both = t.data[group * half + in % half];
    out[i - first] = static_cast<float>((in < half ? both & 15 : both >> 4) - 8) * source_scale(t, group);
  }
}

// In the source's own order.
void read_values(const SourceTensor& t, uint64_t first, uint64_t n, float* out) {
  if (t.type == SourceType::ggml) return read_blocks(t, first, n, out);
  if (t.type == SourceType::q4) return read_nibbles(t, first, n, out);
  const uint8_t* p = t.data + first * source_type_bytes(t.type);
  switch (t.type) {
    case SourceType::f32: std::memcpy(out, p, n * sizeof(float)); break;
    case SourceType::f16:
      for (uint64_t i = 0; i < n; i++) out[i] = f16_to_f32(get_le<uint16_t>(p + 2 * i));
      break;
    case SourceType::bf16:
      for (uint64_t i = 0; i < n; i++) out[i] = bf16_to_f32(get_le<uint16_t>(p + 2 * i));
      break;
    case SourceType::q8:
      for (uint64_t i = 0; i < n; i++) out[i] = static_cast<float>(get_le<int8_t>(p + i)) * source_scale(t, (first + i) / t.group);
      break;
    case SourceType::q4:
    case SourceType::ggml: break;
  }
}

}  // namespace

float source_scale(const SourceTensor& t, uint64_t group) { return get_le<float>(t.scales + group * sizeof(float)); }

uint64_t source_type_bytes(SourceType t) {
  switch (t) {
    case SourceType::f32: return 4;
    case SourceType::q8: return 1;
    default: return 2;
  }
}

uint64_t source_row(const SourceTensor& t, uint64_t row) {
  if (t.pairs_of == 0) return row;
  const uint64_t in_head = row % t.pairs_of, half = t.pairs_of / 2;
  return row - in_head + (in_head < half ? 2 * in_head : 2 * (in_head - half) + 1);
}

void source_read(const SourceTensor& t, uint64_t first, uint64_t n, float* out) {
  if (t.pairs_of == 0) return read_values(t, first, n, out);
  const uint64_t cols = t.shape[1];
  for (uint64_t done = 0; done < n;) {
    const uint64_t row = (first + done) / cols, col = (first + done) % cols, count = std::min(cols - col, n - done);
    read_values(t, source_row(t, row) * cols + col, count, out + done);
    done += count;
  }
}

void source_release(const SourceTensor& t) {
  // whole pages inside the tensor only; a refusal costs nothing but memory
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<uintptr_t>(t.data) + page - 1) / page * page;
  const auto end = (reinterpret_cast<uintptr_t>(t.data) + t.bytes) / page * page;
  if (begin < end)
    madvise(const_cast<uint8_t*>(t.data) + (begin - reinterpret_cast<uintptr_t>(t.data)), end - begin, MADV_DONTNEED);
}

}  // namespace nyb
