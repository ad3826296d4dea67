// gguf.cpp - the parts of a model put together, and values by their keys.
#include "model/gguf.h"

#include <fmt/format.h>

#include <optional>

#include "kern/error.h"
#include "model/bytes.h"
#include "model/gguf_front.h"
#include "model/meta_io.h"

namespace nyb {
namespace {

// NAME-00002-of-00003.gguf
struct PartName {
  std::string before;
  uint64_t number, count;  // number from 1
  std::string of(uint64_t n) const { return fmt::format("{}-{:05}-of-{:05}.gguf", before, n, count); }
};

std::optional<uint64_t> five_digits(std::string_view s) {
  uint64_t n = 0;
  for (const char c : s) {
    if (c < '0' || c > '9') return std::nullopt;
    n = n * 10 + static_cast<uint64_t>(c - '0');
  }
  return n;
}

std::optional<PartName> part_name(std::string_view path) {
  constexpr size_t tail = std::string_view("-00001-of-00001.gguf").size();
  if (path.size() <= tail) return std::nullopt;
  const std::string_view t = path.substr(path.size() - tail);
  const auto number = five_digits(t.substr(1, 5)), count = five_digits(t.substr(10, 5));
  if (t[0] != '-' || t.substr(6, 4) != "-of-" || t.substr(15) != ".gguf" || !number || !count) return std::nullopt;
  return PartName{std::string(path.substr(0, path.size() - tail)), *number, *count};
}

std::optional<uint64_t> split_number(const GgufFront& front, const std::string& path, std::string_view key) {
  const auto it = front.keys.find(key);
  if (it == front.keys.end()) return std::nullopt;
  const auto n = gguf_int(it->second.type, it->second.data);
  if (!n || *n < 0) throw Error(fmt::format("{}: key {} is no whole number from 0 on", path, key));
  return static_cast<uint64_t>(*n);
}

}  // namespace

Gguf::Gguf(const std::string& path) {
  files_.emplace_back(path);
  GgufFront front = gguf_front(files_.front());
  const uint64_t parts = split_number(front, path, "split.count").value_or(1);
  if (parts <= 1) {
    add(front.tensors);
  } else {
    const uint64_t number = split_number(front, path, "split.no").value_or(0);
    const auto name = part_name(path);
    if (!name || name->count != parts || name->number != number + 1)
      throw Error(fmt::format("{}: this is part {} of {} by its keys split.no and split.count, and so must be called NAME{}", path,
                              number + 1, parts, PartName{"", 0, parts}.of(number + 1)));
    files_.clear();
    front = add_parts(name->before, parts);
  }
  keys_ = std::move(front.keys);
}

// Returns the front of the first part.
GgufFront Gguf::add_parts(const std::string& before, uint64_t parts) {
  GgufFront first;
  std::optional<uint64_t> tensors;
  for (uint64_t n = 1; n <= parts; n++) {
    files_.emplace_back(PartName{before, n, parts}.of(n));
    const std::string& file = files_.back().path();
    GgufFront front = gguf_front(files_.back());
    const auto no = split_number(front, file, "split.no"), count = split_number(front, file, "split.count");
    if (!no || *no != n - 1 || !count || *count != parts)
      throw Error(fmt::format("{}: split.no is {} and split.count is {}, where part {} of {} has {} and {}", file,
                              no ? fmt::to_string(*no) : "missing", count ? fmt::to_string(*count) : "missing", n, parts, n - 1,
                              parts));
    add(front.tensors);
    if (n > 1) continue;
    tensors = split_number(front, file, "split.tensors.count");
    first = std::move(front);
  }
  if (tensors && *tensors != tensors_.size())
    throw Error(
        fmt::format("{}: split.tensors.count is {}, but the {} parts have {} tensors", path(), *tensors, parts, tensors_.size()));
  return first;
}

// Of the file opened last.
void Gguf::add(const std::vector<GgufTensor>& tensors) {
  for (const GgufTensor& t : tensors) {
    const auto [it, fresh] = by_name_.emplace(t.name, tensors_.size());
    if (!fresh)
      throw Error(fmt::format("{}: tensor {} is in {} as well", files_.back().path(), shown(t.name),
                              files_[tensors_[it->second].file].path()));
    tensors_.push_back(t);
    tensors_.back().file = files_.size() - 1;
  }
}

const GgufTensor* Gguf::tensor(std::string_view name) const {
  const auto it = by_name_.find(name);
  return it == by_name_.end() ? nullptr : &tensors_[it->second];
}

const GgufValue* Gguf::find(std::string_view key) const {
  const auto it = keys_.find(key);
  return it == keys_.end() ? nullptr : &it->second;
}

std::string_view gguf_type_name(GgufType t) {
  constexpr std::string_view names[] = {"u8",      "i8",     "u16",  "i16", "u32", "i32", "f32",
                                        "boolean", "string", "list", "u64", "i64", "f64"};
  return names[static_cast<uint32_t>(t)];
}

void Gguf::not_a(std::string_view key, const GgufValue& v, std::string_view wanted) const {
  const std::string is = v.type != GgufType::list      ? fmt::format("of type {}", gguf_type_name(v.type))
                         : v.element == GgufType::list ? "a list of lists"
                                                       : fmt::format("a list of {} of type {}", v.count, gguf_type_name(v.element));
  throw Error(fmt::format("{}: key {} is {}, where {} belongs", path(), key, is, wanted));
}

std::optional<uint64_t> Gguf::u64(std::string_view key) const {
  const GgufValue* v = find(key);
  if (!v) return std::nullopt;
  if (v->type == GgufType::u64) return get_le<uint64_t>(v->data);
  const auto n = v->type == GgufType::boolean ? std::nullopt : gguf_int(v->type, v->data);
  if (!n) not_a(key, *v, "a whole number");
  if (*n < 0) throw Error(fmt::format("{}: key {} is {}, where a number that is not negative belongs", path(), key, *n));
  return static_cast<uint64_t>(*n);
}

std::optional<double> Gguf::f64(std::string_view key) const {
  const GgufValue* v = find(key);
  if (!v) return std::nullopt;
  if (v->type == GgufType::f32) return static_cast<double>(get_le<float>(v->data));
  if (v->type != GgufType::f64) not_a(key, *v, "a number of type f32 or f64");
  return get_le<double>(v->data);
}

std::optional<bool> Gguf::boolean(std::string_view key) const {
  const GgufValue* v = find(key);
  if (!v) return std::nullopt;
  if (v->type != GgufType::boolean) not_a(key, *v, "a boolean");
  if (*v->data > 1) throw Error(fmt::format("{}: key {} is a boolean of {}, where 0 or 1 belongs", path(), key, *v->data));
  return *v->data == 1;
}

std::optional<std::string_view> Gguf::str(std::string_view key) const {
  const GgufValue* v = find(key);
  if (!v) return std::nullopt;
  if (v->type != GgufType::string) not_a(key, *v, "a string");
  return gguf_string(v->data);
}

bool Gguf::is_list(std::string_view key) const {
  const GgufValue* v = find(key);
  return v && v->type == GgufType::list;
}

const GgufValue* Gguf::list(std::string_view key) const {
  const GgufValue* v = find(key);
  if (v && v->type != GgufType::list) not_a(key, *v, "a list");
  return v;
}

std::vector<std::string_view> Gguf::strs(std::string_view key) const {
  const GgufValue* v = list(key);
  if (!v) return {};
  if (v->element != GgufType::string) not_a(key, *v, "a list of strings");
  std::vector<std::string_view> out;
  out.reserve(v->count);  // at least eight bytes of the file each
  const uint8_t* p = v->data;
  for (uint64_t i = 0; i < v->count; i++) {
    out.push_back(gguf_string(p));
    p += sizeof(uint64_t) + out.back().size();
  }
  return out;
}

std::vector<int64_t> Gguf::ints(std::string_view key) const {
  const GgufValue* v = list(key);
  if (!v) return {};
  const uint64_t size = gguf_element_bytes(v->element);
  std::vector<int64_t> out;
  out.reserve(v->count);
  for (uint64_t i = 0; i < v->count; i++) {
    const auto n = gguf_int(v->element, v->data + i * size);
    if (!n) not_a(key, *v, "a list of whole numbers below 2^63");
    out.push_back(*n);
  }
  return out;
}

std::vector<double> Gguf::floats(std::string_view key) const {
  const GgufValue* v = list(key);
  if (!v) return {};
  const bool single = v->element == GgufType::f32;
  if (!single && v->element != GgufType::f64) not_a(key, *v, "a list of numbers of type f32 or f64");
  std::vector<double> out;
  out.reserve(v->count);
  for (uint64_t i = 0; i < v->count; i++)
    out.push_back(single ? static_cast<double>(get_le<float>(v->data + 4 * i)) : get_le<double>(v->data + 8 * i));
  return out;
}

}  // namespace nyb
