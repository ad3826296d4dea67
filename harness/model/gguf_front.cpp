// gguf_front.cpp - the keys and the table of tensors, read with nothing taken on trust.
#include "model/gguf_front.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

#include "kern/error.h"
#include "model/bytes.h"
#include "model/meta_io.h"

namespace nyb {
namespace {

constexpr uint64_t kMaxFront = uint64_t{64} << 20;
constexpr uint64_t kMaxKeys = 1 << 16, kMaxTensors = 1 << 20;  // each takes more memory here than in the file
constexpr int kMaxNesting = 8;
constexpr uint64_t kStringLeast = 8, kListLeast = 12;  // bytes of an empty one

// Walks the front; never leaves it.
class Front {
 public:
  explicit Front(const MappedFile& file)
      : path_(file.path()), b_(file.data()), size_(file.size()), end_(std::min(file.size(), kMaxFront)) {}

  GgufFront run() {
    what_ = "its header";
    const auto magic = number<uint32_t>();
    if (magic != 0x46554747) throw Error(fmt::format("{}: this is not a GGUF file: it begins with {:#010x}", path_, magic));
    const auto version = number<uint32_t>();
    if (version != 2 && version != 3) {
      if (const uint32_t swapped = __builtin_bswap32(version); swapped >= 1 && swapped <= 3)
        throw Error(path_ + ": this GGUF file is big endian; only little-endian ones are read");
      throw Error(fmt::format("{}: the GGUF version is {}; 2 and 3 are read", path_, version));
    }
    const auto tensors = number<uint64_t>(), keys = number<uint64_t>();
    limit("tensors", tensors, kMaxTensors, 32);
    limit("keys", keys, kMaxKeys, 13);
    for (uint64_t i = 0; i < keys; i++) key(i);
    front_.tensors.reserve(tensors);
    for (uint64_t i = 0; i < tensors; i++) tensor(i);
    data();
    return std::move(front_);
  }

 private:
  // A count from the header: each takes some bytes at least.
  void limit(const char* of, uint64_t n, uint64_t most, uint64_t least_bytes) const {
    if (n > (size_ - at_) / least_bytes)
      throw Error(fmt::format("{}: the header says {} {}, more than a file of {} bytes can hold", path_, n, of, size_));
    if (n > most) throw Error(fmt::format("{}: the header says {} {}, more than the {} that are read", path_, n, of, most));
  }

  void need(uint64_t n) const {
    if (n <= end_ - at_) return;
    if (end_ == size_) throw Error(fmt::format("{}: the file ends after {} bytes, within {}", path_, size_, what_));
    throw Error(
        fmt::format("{}: keys and table of tensors go on beyond the {} bytes that are read, within {}", path_, end_, what_));
  }

  template <class T>
  T number() {
    need(sizeof(T));
    at_ += sizeof(T);
    return get_le<T>(b_ + at_ - sizeof(T));
  }

  std::string_view string() {
    const auto n = number<uint64_t>();
    if (n > end_ - at_)
      throw Error(
          fmt::format("{}: {} has a string of {} bytes at byte {}, where {} bytes are left", path_, what_, n, at_, end_ - at_));
    at_ += n;
    return gguf_string(b_ + at_ - n - sizeof n);
  }

  GgufType type() {
    const auto t = number<uint32_t>();
    if (t > static_cast<uint32_t>(GgufType::f64))
      throw Error(fmt::format("{}: {} has values of the unknown type {}", path_, what_, t));
    return static_cast<GgufType>(t);
  }

  void key(uint64_t i) {
    what_ = fmt::format("key {}", i);
    const std::string_view name = string();
    what_ = fmt::format("key {}", shown(name));
    if (name.empty()) throw Error(fmt::format("{}: key {} has no name", path_, i));
    GgufValue v;
    v.type = type();
    if (v.type == GgufType::list) {
      v.element = type();
      v.count = number<uint64_t>();
    }
    v.data = b_ + at_;
    if (v.type == GgufType::string)
      string();
    else if (v.type == GgufType::list)
      list(v.element, v.count, 1);
    else
      skip(gguf_element_bytes(v.type));
    v.bytes = static_cast<uint64_t>(b_ + at_ - v.data);
    if (!front_.keys.emplace(name, v).second) throw Error(fmt::format("{}: key {} is there twice", path_, shown(name)));
  }

  void skip(uint64_t n) {
    need(n);
    at_ += n;
  }

  // The elements of a list. Lists in lists are walked over; nothing that is read has them.
  void list(GgufType element, uint64_t count, int depth) {
    const uint64_t fixed = gguf_element_bytes(element);
    const uint64_t least = fixed ? fixed : element == GgufType::string ? kStringLeast : kListLeast;
    if (count > (end_ - at_) / least)
      throw Error(fmt::format("{}: {} has a list of {} values at byte {}, of {} bytes each at least, where {} bytes are left",
                              path_, what_, count, at_, least, end_ - at_));
    if (fixed) return skip(count * fixed);
    if (element == GgufType::list && depth == kMaxNesting)
      throw Error(fmt::format("{}: {} has lists nested more than {} deep", path_, what_, kMaxNesting));
    for (uint64_t i = 0; i < count; i++) {
      if (element == GgufType::string) {
        string();
      } else {
        const GgufType inner = type();
        list(inner, number<uint64_t>(), depth + 1);
      }
    }
  }

  void tensor(uint64_t i) {
    what_ = fmt::format("tensor {} of the table", i);
    GgufTensor t;
    t.name = string();
    if (t.name.empty()) throw Error(fmt::format("{}: {} has no name", path_, what_));
    what_ = fmt::format("tensor {}", shown(t.name));
    if (!names_.insert(t.name).second) throw Error(fmt::format("{}: {} is in the table twice", path_, what_));
    t.rank = number<uint32_t>();
    if (t.rank < 1 || t.rank > t.dims.size())
      throw Error(fmt::format("{}: {} has {} dimensions; 1 to {} are read", path_, what_, t.rank, t.dims.size()));
    uint64_t values = 1;
    for (uint32_t d = 0; d < t.rank; d++) {
      t.dims[d] = number<uint64_t>();
      if (t.dims[d] == 0) throw Error(fmt::format("{}: {} has a dimension of 0", path_, what_));
      if (values > UINT64_MAX / t.dims[d])
        throw Error(fmt::format("{}: {} has {} values, which do not fit in 64 bits", path_, what_,
                                fmt::join(t.dims.begin(), t.dims.begin() + d + 1, " x ")));
      values *= t.dims[d];
    }
    const auto type_number = number<uint32_t>();
    t.type = ggml_block(type_number);
    if (!t.type) throw Error(fmt::format("{}: {} has the type {}, which is not known", path_, what_, type_number));
    if (t.dims[0] % t.type->values != 0)
      throw Error(fmt::format("{}: {} has rows of {} values, no multiple of the {} of a block of {}", path_, what_, t.dims[0],
                              t.type->values, t.type->name));
    const uint64_t blocks = values / t.type->values;
    if (blocks > UINT64_MAX / t.type->bytes)
      throw Error(
          fmt::format("{}: {} has {} blocks of {} bytes, which do not fit in 64 bits", path_, what_, blocks, t.type->bytes));
    t.bytes = blocks * t.type->bytes;
    offsets_.push_back(number<uint64_t>());
    front_.tensors.push_back(t);
  }

  uint64_t alignment() const {
    const auto it = front_.keys.find("general.alignment");
    if (it == front_.keys.end()) return 32;
    const auto a = gguf_int(it->second.type, it->second.data);
    if (!a || it->second.type == GgufType::boolean)
      throw Error(fmt::format("{}: general.alignment is no whole number but a {}", path_, gguf_type_name(it->second.type)));
    if (*a < 1 || !std::has_single_bit(static_cast<uint64_t>(*a)))
      throw Error(fmt::format("{}: general.alignment is {}, which is no power of two", path_, *a));
    return static_cast<uint64_t>(*a);
  }

  // Tensors follow each other in the table's order, each on a multiple of the alignment, as every writer has them.
  void data() {
    const uint64_t align = alignment();  // at most 2^62, and the front at most 2^26: no sum of them overflows
    const uint64_t begin = (at_ + align - 1) & ~(align - 1);
    uint64_t next = 0;  // from there
    for (size_t i = 0; i < front_.tensors.size(); i++) {
      GgufTensor& t = front_.tensors[i];
      const uint64_t offset = offsets_[i];
      const std::string which = fmt::format("{}: tensor {}", path_, shown(t.name));
      if (offset % align != 0)
        throw Error(fmt::format("{} is at {} of the data, which is no multiple of the alignment {}", which, offset, align));
      if (begin > size_ || offset > size_ - begin || t.bytes > size_ - begin - offset)
        throw Error(
            fmt::format("{} of {} bytes at {} of the data, which begins at byte {}, ends beyond the file's {}: the file is cut "
                        "off, or its table is wrong",
                        which, t.bytes, offset, begin, size_));
      if (offset != next)
        throw Error(fmt::format("{} is at {} of the data where {} belongs: it {}", which, offset, next,
                                offset < next ? "overlaps what is before it" : "leaves a gap before it"));
      t.data = b_ + begin + offset;
      next = (offset + t.bytes + align - 1) & ~(align - 1);
    }
  }

  const std::string& path_;
  const uint8_t* b_;
  uint64_t size_, end_, at_ = 0;
  std::string what_;  // is being read
  std::set<std::string_view> names_;
  std::vector<uint64_t> offsets_;
  GgufFront front_;
};

}  // namespace

GgufFront gguf_front(const MappedFile& file) { return Front(file).run(); }

uint64_t gguf_element_bytes(GgufType t) {
  switch (t) {
    case GgufType::u8:
    case GgufType::i8:
    case GgufType::boolean: return 1;
    case GgufType::u16:
    case GgufType::i16: return 2;
    case GgufType::u32:
    case GgufType::i32:
    case GgufType::f32: return 4;
    case GgufType::u64:
    case GgufType::i64:
    case GgufType::f64: return 8;
    case GgufType::string:
    case GgufType::list: break;
  }
  return 0;
}

std::string_view gguf_string(const uint8_t* p) {
  return {reinterpret_cast<const char*>(p) + sizeof(uint64_t), get_le<uint64_t>(p)};
}

std::optional<int64_t> gguf_int(GgufType t, const uint8_t* p) {
  switch (t) {
    case GgufType::u8:
    case GgufType::boolean: return *p;
    case GgufType::i8: return get_le<int8_t>(p);
    case GgufType::u16: return get_le<uint16_t>(p);
    case GgufType::i16: return get_le<int16_t>(p);
    case GgufType::u32: return get_le<uint32_t>(p);
    case GgufType::i32: return get_le<int32_t>(p);
    case GgufType::i64: return get_le<int64_t>(p);
    case GgufType::u64:
      if (const auto v = get_le<uint64_t>(p); v <= INT64_MAX) return static_cast<int64_t>(v);
      break;
    default: break;
  }
  return std::nullopt;
}

}  // namespace nyb
