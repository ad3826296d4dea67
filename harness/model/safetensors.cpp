// safetensors.cpp - the header, read with nothing taken on trust.
#include "model/safetensors.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

#include "kern/error.h"
#include "model/bytes.h"
#include "model/json.h"
#include "model/meta_io.h"

namespace nyb {
namespace {
using nlohmann::json;

constexpr uint64_t kMaxHeader = uint64_t{32} << 20;

// A list of whole numbers.
std::vector<uint64_t> numbers(const json& v, const std::string& what) {
  if (!v.is_array()) throw Error(what + " is not a list");
  std::vector<uint64_t> out;
  for (const json& x : v) {
    if (!x.is_number_unsigned())
      throw Error(what + " has " + shown(x.dump(-1, ' ', false, json::error_handler_t::replace)) + " where a whole number belongs");
    out.push_back(x.get<uint64_t>());
  }
  return out;
}

SourceType dtype(const std::string& s, const std::string& what) {
  if (s == "F32") return SourceType::f32;
  if (s == "F16") return SourceType::f16;
  if (s == "BF16") return SourceType::bf16;
  throw Error(what + " has dtype " + shown(s) + "; F32, F16 and BF16 are read");
}

// One member of the header; `data` is what follows it.
SourceTensor entry(const std::string& name, const json& v, std::span<const uint8_t> data, const std::string& path) {
  const std::string what = fmt::format("{}: tensor {}", path, shown(name));
  if (!v.is_object()) throw Error(what + " is not an object");
  for (const char* k : {"dtype", "shape", "data_offsets"})
    if (!v.contains(k)) throw Error(fmt::format("{} has no {}", what, k));
  if (!v["dtype"].is_string()) throw Error(what + " has a dtype that is not a string");
  SourceTensor t;
  t.name = name;
  t.type = dtype(v["dtype"].get_ref<const std::string&>(), what);
  t.shape = numbers(v["shape"], what + ": shape");
  uint64_t want = source_type_bytes(t.type);
  for (const uint64_t d : t.shape) {
    if (d == 0) throw Error(what + " has a dimension of 0");
    if (want > UINT64_MAX / d) throw Error(what + " has a shape whose product does not fit in 64 bits");
    want *= d;
  }
  const std::vector<uint64_t> off = numbers(v["data_offsets"], what + ": data_offsets");
  if (off.size() != 2) throw Error(fmt::format("{} has {} data_offsets where 2 belong", what, off.size()));
  if (off[0] > off[1]) throw Error(fmt::format("{} has reversed data_offsets {} and {}", what, off[0], off[1]));
  if (off[1] > data.size())
    throw Error(fmt::format("{} ends at {}, beyond the {} bytes of data in the file", what, off[1], data.size()));
  if (off[1] - off[0] != want)
    throw Error(fmt::format("{} has {} bytes where its shape and dtype take {}", what, off[1] - off[0], want));
  t.data = data.data() + off[0];
  t.bytes = want;
  return t;
}

}  // namespace

std::vector<SourceTensor> safetensors_read(const MappedFile& file) {
  const std::string& path = file.path();
  const std::span<const uint8_t> b = file.bytes();
  if (b.size() < 8) throw Error(fmt::format("{}: the file ends after {} bytes, within the length of its header", path, b.size()));
  const auto n = get_le<uint64_t>(b.data());
  if (n > b.size() - 8)
    throw Error(
        fmt::format("{}: the header says it has {} bytes, and the file has {} after its length; it is cut off or not safetensors",
                    path, n, b.size() - 8));
  if (n > kMaxHeader) throw Error(fmt::format("{}: the header has {} bytes, more than the {} that are read", path, n, kMaxHeader));
  const json root = json_strict(b.subspan(8, n), path + ": header", 4);
  if (!root.is_object()) throw Error(path + ": header: this is not a JSON object");

  const std::span<const uint8_t> data = b.subspan(8 + n);
  std::vector<SourceTensor> out;
  for (const auto& [name, v] : root.items())
    if (name != "__metadata__") out.push_back(entry(name, v, data, path));
  std::sort(out.begin(), out.end(), [](const SourceTensor& x, const SourceTensor& y) { return x.data < y.data; });
  const uint8_t* next = data.data();
  for (const SourceTensor& t : out) {
    if (t.data != next) {
      const char* why = t.data < next ? "overlaps the tensor before it" : "leaves a gap before it";
      throw Error(fmt::format("{}: tensor {} at {} {}, which ends at {}", path, shown(t.name), t.data - data.data(), why,
                              next - data.data()));
    }
    next += t.bytes;
  }
  if (const auto rest = static_cast<uint64_t>(data.data() + data.size() - next); rest != 0)
    throw Error(fmt::format("{}: {} bytes follow the last tensor", path, rest));
  return out;
}

}  // namespace nyb
