#include "gguf_file.h"

#include <algorithm>

namespace nyb::test {
namespace {

void pad(std::string& s, uint64_t align) { s.resize((s.size() + align - 1) / align * align, '\0'); }

}  // namespace

std::string gguf::strs(const std::vector<std::string>& v) {
  std::string bytes;
  for (const std::string& s : v) bytes += gguf_text(s);
  return list(8, v.size(), bytes);
}

std::string GgufMade::front() const {
  std::string out =
      "GGUF" + le(version) + le<uint64_t>(tensor_count.value_or(tensors.size())) + le<uint64_t>(key_count.value_or(keys.size()));
  for (const auto& [key, value] : keys) out += gguf_text(key) + value;
  uint64_t next = 0;
  for (const Tensor& t : tensors) {
    out += gguf_text(t.name) + le(static_cast<uint32_t>(t.dims.size()));
    for (const uint64_t d : t.dims) out += le(d);
    out += le(t.type) + le(t.offset.value_or(next));
    next += (t.bytes.size() + align - 1) / align * align;
  }
  return out;
}

std::string GgufMade::bytes() const {
  std::string out = front();
  pad(out, align);
  for (const Tensor& t : tensors) {
    out += t.bytes;
    pad(out, align);
  }
  return out;
}

GgufMade& GgufMade::erase(const std::string& key) {
  std::erase_if(keys, [&](const auto& k) { return k.first == key; });
  return *this;
}

GgufMade& GgufMade::set(const std::string& key, const std::string& value) {
  for (auto& k : keys)
    if (k.first == key) return k.second = value, *this;
  keys.emplace_back(key, value);
  return *this;
}

}  // namespace nyb::test
