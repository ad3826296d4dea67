// format.h - where things are in a model file (docs/model-file.md has the same, byte by byte).
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>
#include "model/bytes.h"
#include "model/tensor.h"

namespace nyb {
struct ModelShape;
struct LayerTensors;

inline constexpr char kMagic[9] = "MNMODEL2";
inline constexpr uint32_t kFormatVersion = 2;
inline constexpr uint32_t kByteOrder = 0x01020304;
inline constexpr uint64_t kHeaderBytes = 4096;
inline constexpr uint64_t kEntryBytes = 128;  // of the tensor table
inline constexpr uint64_t kNameBytes = 64;    // of a tensor's name, its final zero included

// Offsets of the header's fields.
// NOLINTBEGIN(readability-identifier-naming)
namespace at {
inline constexpr size_t magic = 0, version = 8, byte_order = 12, file_bytes = 16, table_offset = 24, table_count = 32,
                        table_bytes = 40, meta_offset = 48, meta_count = 56, meta_bytes = 64, data_offset = 72, data_bytes = 80,
                        content_hash = 88, shape = 96, params = 128, reserved = 136, header_hash = 4088;
// and of a table entry's
inline constexpr size_t name = 0, type = 64, zero = 68, rows = 72, cols = 80, offset = 88, bytes = 96, hash = 104, tail = 112;
}  // namespace at
// NOLINTEND(readability-identifier-naming)

struct Header {
  uint64_t file_bytes = 0, table_offset = kHeaderBytes, table_count = 0, table_bytes = 0, meta_offset = 0, meta_count = 0,
           meta_bytes = 0, data_offset = 0, data_bytes = 0, content_hash = 0, params = 0;
  std::array<uint32_t, 8> shape{};  // layers, dim, heads, kv_heads, head_dim, ffn, vocab, ctx

  std::array<uint8_t, kHeaderBytes> encode() const;  // its own hash included
  static Header decode(const uint8_t* bytes);        // checks nothing
};

std::array<uint32_t, 8> shape_fields(const ModelShape& s);
void shape_from_fields(ModelShape& s, const std::array<uint32_t, 8>& f);

// What a model of this shape consists of, in the order of the file: names, true sizes, and whether it is a matrix.
struct TensorSlot {
  std::string name;
  uint64_t rows, cols;
  bool matrix;
};
std::vector<TensorSlot> model_slots(const ModelShape& s, bool tied);

// The same of one layer: names without "layers.N.", and which pointer of a loaded layer each becomes.
struct LayerSlot {
  const char* name;
  uint64_t rows, cols;
  bool matrix;
  const Tensor* LayerTensors::*at;
};
std::vector<LayerSlot> layer_slots(const ModelShape& s);

// Checks the shape by itself. Throws Error beginning with `where`.
void shape_check(const ModelShape& s, const std::string& where);

}  // namespace nyb
