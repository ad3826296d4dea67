// load_check.cpp - the header and the table, against each other, the shape and the length of the file.
#include "model/load_check.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>

#include "kern/error.h"
#include "model/meta_io.h"

namespace nyb {
namespace {

bool all_zero(const uint8_t* b, const uint8_t* e) {
  return std::all_of(b, e, [](uint8_t x) { return x == 0; });
}

void expect(const std::string& path, const char* field, uint64_t value, uint64_t want) {
  if (value != want) throw Error(fmt::format("{}: the header's {} is {} where {} belongs", path, field, value, want));
}

// The entry's name: printable, ended by zeros to the end of its field.
std::string entry_name(const uint8_t* e, uint64_t i, const std::string& path) {
  const auto* s = reinterpret_cast<const char*>(e + at::name);
  const size_t len = strnlen(s, kNameBytes);
  if (len == 0 || len == kNameBytes || !all_zero(e + at::name + len, e + at::name + kNameBytes))
    throw Error(fmt::format("{}: tensor {} of the table has the malformed name {}", path, i, shown({s, len})));
  return {s, len};
}

TType entry_type(const uint8_t* e, const std::string& name, const std::string& path) {
  const auto t = get_le<uint32_t>(e + at::type);
  if (t < 1 || t > 7) throw Error(fmt::format("{}: tensor {} has type {}, which this program does not know", path, name, t));
  return static_cast<TType>(t);
}

}  // namespace

Header header_check(std::span<const uint8_t> file, const std::string& path) {
  const uint8_t* b = file.data();
  if (file.size() < kHeaderBytes)
    throw Error(fmt::format("{}: the file ends after {} bytes, within its header of {}", path, file.size(), kHeaderBytes));
  const auto order = get_le<uint32_t>(b + at::byte_order);
  if (order == 0x04030201) throw Error(path + ": this model file is big endian; only little-endian ones are read");
  if (order != kByteOrder)
    throw Error(fmt::format("{}: the header's byte order mark is {:#010x} where {:#010x} belongs", path, order, kByteOrder));
  const auto version = get_le<uint32_t>(b + at::version);
  if (version != kFormatVersion)
    throw Error(fmt::format("{}: the file has format version {}; this program reads version {}", path, version, kFormatVersion));
  const auto want = get_le<uint64_t>(b + at::header_hash);
  if (const uint64_t is = XXH3_64bits(b, at::header_hash); is != want)
    throw Error(fmt::format("{}: the header is damaged (its checksum is {:016x}, the file says {:016x})", path, is, want));

  const Header h = Header::decode(b);
  if (h.file_bytes != file.size())
    throw Error(fmt::format("{}: the file has {} bytes where its header says {}; it is cut off or was added to", path, file.size(),
                            h.file_bytes));
  expect(path, "table offset", h.table_offset, kHeaderBytes);
  if (h.table_count > (file.size() - kHeaderBytes) / kEntryBytes)
    throw Error(
        fmt::format("{}: the header says {} tensors, more than a file of {} bytes can hold", path, h.table_count, file.size()));
  expect(path, "table size", h.table_bytes, h.table_count * kEntryBytes);
  expect(path, "metadata offset", h.meta_offset, kHeaderBytes + h.table_bytes);
  if (h.meta_bytes > file.size() - h.meta_offset)
    throw Error(fmt::format("{}: the header says {} bytes of metadata from {}, beyond the file's {}", path, h.meta_bytes,
                            h.meta_offset, file.size()));
  expect(path, "data offset", h.data_offset, align64(h.meta_offset + h.meta_bytes));
  if (h.data_offset > file.size())
    throw Error(fmt::format("{}: the header says tensors from {}, beyond the file's {}", path, h.data_offset, file.size()));
  expect(path, "data size", h.data_bytes, file.size() - h.data_offset);
  if (!all_zero(b + at::reserved, b + at::header_hash))
    throw Error(path + ": the header's reserved bytes 136 to 4087 are not all zero");
  if (const uint64_t is = XXH3_64bits(b + h.table_offset, h.table_bytes + h.meta_bytes); is != h.content_hash)
    throw Error(fmt::format("{}: the table or the metadata is damaged (their checksum is {:016x}, the header says {:016x})", path,
                            is, h.content_hash));
  if (!all_zero(b + h.meta_offset + h.meta_bytes, b + h.data_offset))
    throw Error(fmt::format("{}: the padding between metadata and tensors is not zero", path));
  return h;
}

bool table_check(std::span<const uint8_t> file, const Header& h, const ModelShape& shape, const std::string& path,
                 std::vector<Tensor>& out) {
  // counted before anything is built from the shape, so that a hostile layer count costs nothing
  const uint64_t tied_count = uint64_t{shape.layers} * layer_slots(shape).size() + 2;
  if (h.table_count != tied_count && h.table_count != tied_count + 1) {
    throw Error(fmt::format("{}: the table has {} tensors where a model of {} layers has {} or {}", path, h.table_count,
                            shape.layers, tied_count, tied_count + 1));
  }
  const bool tied = h.table_count == tied_count;
  const std::vector<TensorSlot> slots = model_slots(shape, tied);
  uint64_t next = h.data_offset, params = 0;
  out.reserve(slots.size());
  for (uint64_t i = 0; i < slots.size(); i++) {
    const uint8_t* e = file.data() + h.table_offset + i * kEntryBytes;
    const TensorSlot& slot = slots[i];
    Tensor t;
    t.name = entry_name(e, i, path);
    if (t.name != slot.name) {
      for (const Tensor& earlier : out)
        if (earlier.name == t.name) throw Error(fmt::format("{}: tensor {} is in the table twice", path, t.name));
      throw Error(fmt::format("{}: tensor {} of the table is {} where \"{}\" belongs", path, i, shown(t.name), slot.name));
    }
    t.type = entry_type(e, t.name, path);
    t.rows = get_le<uint64_t>(e + at::rows);
    t.cols = get_le<uint64_t>(e + at::cols);
    t.offset = get_le<uint64_t>(e + at::offset);
    t.bytes = get_le<uint64_t>(e + at::bytes);
    t.hash = get_le<uint64_t>(e + at::hash);
    if (!all_zero(e + at::zero, e + at::rows) || !all_zero(e + at::tail, e + kEntryBytes))
      throw Error(fmt::format("{}: the reserved bytes of tensor {} are not zero", path, t.name));
    if (slot.matrix == (t.type == TType::vec))
      throw Error(fmt::format("{}: tensor {} has type {}, which is for {}", path, t.name, ttype_name(t.type),
                              slot.matrix ? "norms and biases" : "matrices"));
    if (t.rows != slot.rows || t.cols != slot.cols) {
      throw Error(fmt::format("{}: tensor {} has {} x {} values where the model's shape asks for {} x {}", path, t.name, t.rows,
                              t.cols, slot.rows, slot.cols));
    }
    if (t.cols % block_cols(t.type) != 0)
      throw Error(fmt::format("{}: tensor {} has {} columns, no multiple of the {} of a block of {}", path, t.name, t.cols,
                              block_cols(t.type), ttype_name(t.type)));
    // the sizes are those of a checked shape, so this cannot overflow
    if (const uint64_t want = tensor_bytes(t.type, t.rows, t.cols); t.bytes != want) {
      throw Error(fmt::format("{}: tensor {} has {} bytes where {} x {} in {} take {}", path, t.name, t.bytes, t.rows, t.cols,
                              ttype_name(t.type), want));
    }
    if (t.offset != next) {
      const char* why = t.offset < next ? "it overlaps what is before it" : "there is a gap before it";
      throw Error(fmt::format("{}: tensor {} is at byte {} where {} belongs: {}", path, t.name, t.offset, next, why));
    }
    if (t.bytes > file.size() - t.offset) {
      throw Error(
          fmt::format("{}: tensor {} of {} bytes at {} ends beyond the file's {}", path, t.name, t.bytes, t.offset, file.size()));
    }
    next = align64(t.offset + t.bytes);
    if (next > file.size())
      throw Error(fmt::format("{}: the padding after tensor {} ends at {}, beyond the file's {}", path, t.name, next, file.size()));
    t.data = file.data() + t.offset;
    params += t.rows * t.cols;
    out.push_back(std::move(t));
  }
  if (next != file.size())
    throw Error(fmt::format("{}: {} bytes follow the last tensor, which ends at {}", path, file.size() - next, next));
  expect(path, "count of parameters", h.params, params);
  return tied;
}

Front front_check(std::span<const uint8_t> file, const std::string& path) {
  const Header h = header_check(file, path);
  Front f;
  shape_from_fields(f.shape, h.shape);
  shape_check(f.shape, path);
  f.meta = meta_decode(file.subspan(h.meta_offset, h.meta_bytes), h.meta_count, path);
  meta_check(f.meta, f.shape, path);
  f.tied = table_check(file, h, f.shape, path, f.tensors);
  f.shape.params = h.params;
  return f;
}

}  // namespace nyb
