// gguf_file.h - makes GGUF files, whole or wrong on purpose, from ggml's description and without the project's own reader.
#pragma once
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace nyb::test {

template <class T>
std::string le(T v) {
  std::string s(sizeof v, '\0');
  std::memcpy(s.data(), &v, sizeof v);
  return s;
}
inline std::string gguf_text(const std::string& s) { return le<uint64_t>(s.size()) + s; }

// A value with its type before it.
namespace gguf {
inline std::string u8(uint8_t v) { return le<uint32_t>(0) + le(v); }
inline std::string i8(int8_t v) { return le<uint32_t>(1) + le(v); }
inline std::string u16(uint16_t v) { return le<uint32_t>(2) + le(v); }
inline std::string i16(int16_t v) { return le<uint32_t>(3) + le(v); }
inline std::string u32(uint32_t v) { return le<uint32_t>(4) + le(v); }
inline std::string i32(int32_t v) { return le<uint32_t>(5) + le(v); }
inline std::string f32(float v) { return le<uint32_t>(6) + le(v); }
inline std::string boolean(uint8_t v) { return le<uint32_t>(7) + le(v); }
inline std::string str(const std::string& v) { return le<uint32_t>(8) + gguf_text(v); }
inline std::string u64(uint64_t v) { return le<uint32_t>(10) + le(v); }
inline std::string i64(int64_t v) { return le<uint32_t>(11) + le(v); }
inline std::string f64(double v) { return le<uint32_t>(12) + le(v); }
// of `element` values, which are `bytes` one after the other
inline std::string list(uint32_t element, uint64_t count, const std::string& bytes) {
  return le<uint32_t>(9) + le(element) + le(count) + bytes;
}
std::string strs(const std::vector<std::string>& v);
template <class T>
std::string list(uint32_t element, const std::vector<T>& v) {
  std::string bytes;
  for (const T x : v) bytes += le(x);
  return list(element, v.size(), bytes);
}
}  // namespace gguf

struct GgufMade {
  struct Tensor {
    std::string name;
    std::vector<uint64_t> dims;  // a row's length first
    uint32_t type;
    std::string bytes;
    std::optional<uint64_t> offset{};  // else after the one before it
  };
  uint32_t version = 3;
  uint64_t align = 32;
  std::vector<std::pair<std::string, std::string>> keys;
  std::vector<Tensor> tensors;
  std::optional<uint64_t> key_count{}, tensor_count{};  // else as many as there are

  std::string bytes() const;
  std::string front() const;                                        // up to the data, without the padding before it
  GgufMade& set(const std::string& key, const std::string& value);  // in place of an earlier one
  GgufMade& erase(const std::string& key);
};

}  // namespace nyb::test
