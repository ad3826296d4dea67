// gguf.h - a GGUF file (docs/gguf.md of ggml, versions 2 and 3), mapped: its keys by type, and where its tensors are.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>
#include "model/ggml_type.h"
#include "model/mapped_file.h"

namespace nyb {
struct GgufFront;

// Numbers are the file's.
enum class GgufType : uint32_t {
  u8 = 0,
  i8 = 1,
  u16 = 2,
  i16 = 3,
  u32 = 4,
  i32 = 5,
  f32 = 6,
  boolean = 7,
  string = 8,
  list = 9,
  u64 = 10,
  i64 = 11,
  f64 = 12
};

// A value where it lies in the file.
struct GgufValue {
  GgufType type = GgufType::u8;
  GgufType element = GgufType::u8;  // of a list
  uint64_t count = 0;               // of a list
  const uint8_t* data = nullptr;    // of a list its first element, of a string its length
  uint64_t bytes = 0;               // of all of it, from `data` on
};

struct GgufTensor {
  std::string_view name;
  const GgmlBlock* type = nullptr;
  uint32_t rank = 0;                         // 1 to 4
  std::array<uint64_t, 4> dims{1, 1, 1, 1};  // the first is a row's length, as the file has it; those beyond the rank are 1
  const uint8_t* data = nullptr;
  uint64_t bytes = 0;
  size_t file = 0;  // which of files()
};

// Text and data are views into the maps: they live as long as the files() do, wherever those are moved.
class Gguf {
 public:
  // Opens `path`; where it is a part of a model in several files (NAME-00001-of-00003.gguf), all of them, and the keys are those
  // of the first. Everything is checked before it is used: counts and lengths against the file, types, names that come twice,
  // offsets of tensors, parts against each other; keys and table of tensors take at most 64 MiB. Throws Error: one sentence that
  // begins with the file and names the key or tensor and the numbers.
  explicit Gguf(const std::string& path);

  const std::string& path() const { return files_.front().path(); }
  const std::vector<MappedFile>& files() const { return files_; }
  std::vector<MappedFile> take_files() && { return std::move(files_); }
  const std::vector<GgufTensor>& tensors() const { return tensors_; }  // in the files' order
  const GgufTensor* tensor(std::string_view name) const;               // nullptr: there is none
  const std::map<std::string_view, GgufValue>& keys() const { return keys_; }
  bool has(std::string_view key) const { return keys_.contains(key); }

  // The value of a key; nothing where the key is absent. Throw Error naming file, key and what it is where it is of another kind.
  std::optional<uint64_t> u64(std::string_view key) const;  // any whole number that is not negative
  std::optional<double> f64(std::string_view key) const;    // f32 or f64
  std::optional<bool> boolean(std::string_view key) const;  // a byte of 0 or 1
  std::optional<std::string_view> str(std::string_view key) const;
  bool is_list(std::string_view key) const;
  // The values of a list; none where the key is absent. Throw Error likewise.
  std::vector<std::string_view> strs(std::string_view key) const;
  std::vector<int64_t> ints(std::string_view key) const;   // any whole numbers or booleans
  std::vector<double> floats(std::string_view key) const;  // f32s or f64s

 private:
  GgufFront add_parts(const std::string& before, uint64_t parts);
  void add(const std::vector<GgufTensor>& tensors);
  const GgufValue* find(std::string_view key) const;
  const GgufValue* list(std::string_view key) const;
  [[noreturn]] void not_a(std::string_view key, const GgufValue& v, std::string_view wanted) const;

  std::vector<MappedFile> files_;
  std::map<std::string_view, GgufValue> keys_;
  std::vector<GgufTensor> tensors_;
  std::map<std::string_view, size_t> by_name_;
};

std::string_view gguf_type_name(GgufType t);  // "u32", "string" ...

}  // namespace nyb
