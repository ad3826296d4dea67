// gguf_write.h - writes a GGUF file (version 3, ggml's docs/gguf.md): keys, table of tensors, then the tensors one after the other.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>
#include "model/ggml_type.h"

namespace nyb {

// Keys and their values, as bytes of the file, in the order in which they were set.
class GgufKeys {
 public:
  void str(std::string_view key, std::string_view v);
  void u32(std::string_view key, uint32_t v);
  void f32(std::string_view key, double v);  // rounded to float
  void boolean(std::string_view key, bool v);
  void strs(std::string_view key, const std::vector<std::string>& v);
  void i32s(std::string_view key, std::span<const int32_t> v);
  void f32s(std::string_view key, std::span<const float> v);
  void add(const GgufKeys& more);  // after these

  uint64_t count() const { return count_; }
  const std::string& bytes() const { return bytes_; }

 private:
  void begin(std::string_view key, uint32_t type);
  void begin_list(std::string_view key, uint32_t element, uint64_t n);
  uint64_t count_ = 0;
  std::string bytes_;
};

struct GgufPlan {
  std::string name;
  GgmlType type;
  uint64_t rows, cols;  // rows 0: a vector of cols values
};

// The plan first, then each tensor's bytes in that order, then finish(). Destroyed before that, nothing has changed. Errors (a full
// disk, no permission) are Error: one sentence that names the file. The same calls give the same bytes.
class GgufWriter {
 public:
  // Columns must be whole blocks of the types (Error). Space for the whole file is asked for at once where the file system can
  // tell.
  GgufWriter(const std::string& path, const GgufKeys& keys, const std::vector<GgufPlan>& plan);
  ~GgufWriter();
  void data(const void* bytes, uint64_t n);  // the next part of the tensor at hand; a tensor ends when its size is reached
  void finish();                             // completes the file, reads its front as gguf.h does, then gives it its name
  uint64_t file_bytes() const;               // of the whole file, known from the start

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace nyb
