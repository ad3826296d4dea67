// source.cpp - values of a source as floats, and its pages given back.
#include "model/source.h"

#include <sys/mman.h>
#include <unistd.h>

#include "kern/f16.h"
#include "model/bytes.h"

namespace nyb {

uint64_t source_type_bytes(SourceType t) { return t == SourceType::f32 ? 4 : 2; }

void source_read(const SourceTensor& t, uint64_t first, uint64_t n, float* out) {
  const uint8_t* p = t.data + first * source_type_bytes(t.type);
  switch (t.type) {
    case SourceType::f32: std::memcpy(out, p, n * sizeof(float)); break;
    case SourceType::f16:
      for (uint64_t i = 0; i < n; i++) out[i] = f16_to_f32(get_le<uint16_t>(p + 2 * i));
      break;
    case SourceType::bf16:
      for (uint64_t i = 0; i < n; i++) out[i] = bf16_to_f32(get_le<uint16_t>(p + 2 * i));
      break;
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
