// source.cpp - values of a source as floats, and its pages given back.
#include "model/source.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "kern/f16.h"
#include "model/bytes.h"
#include "model/dequant.h"
#include "model/gguf_names.h"

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

void read_panels(const SourceTensor& t, uint64_t first, uint64_t n, float* out) {
  const Tensor panels = source_panels(t);
  std::vector<float> row(panels.cols);
  for (uint64_t done = 0; done < n;) {
    const uint64_t from = (first + done) % panels.cols, count = std::min(panels.cols - from, n - done);
    tensor_row(panels, (first + done) / panels.cols, row.data());
    std::memcpy(out + done, row.data() + from, count * sizeof(float));
    done += count;
  }
}

// In the source's own order.
void read_values(const SourceTensor& t, uint64_t first, uint64_t n, float* out) {
  if (t.type == SourceType::ggml) return read_blocks(t, first, n, out);
  if (t.type == SourceType::q4) return read_nibbles(t, first, n, out);
  if (t.type == SourceType::panels) return read_panels(t, first, n, out);
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
    case SourceType::ggml:
    case SourceType::panels: break;
  }
}

}  // namespace

float source_scale(const SourceTensor& t, uint64_t group) { return get_le<float>(t.scales + group * sizeof(float)); }

Tensor source_panels(const SourceTensor& t) {
  Tensor out;
  out.name = t.name;
  out.type = t.panel;
  out.rows = t.shape.size() == 1 ? 1 : t.shape[0];
  out.cols = t.shape.back();
  out.data = t.data;
  out.bytes = t.bytes;
  return out;
}

uint64_t source_type_bytes(SourceType t) {
  switch (t) {
    case SourceType::f32: return 4;
    case SourceType::q8: return 1;
    default: return 2;
  }
}

uint64_t source_row(const SourceTensor& t, uint64_t row) { return t.pairs_of == 0 ? row : pairs_from_halves(row, t.pairs_of); }

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
