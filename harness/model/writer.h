// writer.h - writes a model file: tensors one after the other under a temporary name, renamed when whole and checked.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>
#include "model/meta.h"
#include "model/model.h"
#include "model/tensor.h"

namespace nyb {

struct TensorPlan {
  std::string name;
  TType type;
  uint64_t rows, cols;
};

// plan first (offsets are laid out from it), then each tensor's bytes in that order, then finish(). Destroyed before
// finish(): the temporary file is removed and nothing else has changed. Errors (a full disk, no permission) are Error: one
// sentence that names the file. The same calls give the same bytes.
class MnmWriter {
 public:
  // Of `shape` the integers are written; what else a model needs is in `meta` (keys of meta.h). The plan's order must be the
  // file's (model_slots). Space for the whole file is asked for at once where the file system can tell.
  MnmWriter(std::string path, const ModelShape& shape, const Meta& meta, std::vector<TensorPlan> plan);
  ~MnmWriter();
  void tensor(const void* bytes, uint64_t n);  // the next part of the tensor at hand; a tensor ends when its size is reached
  void set(std::string_view key, uint64_t v);  // a u64 that is known only now, such as a hash; the key was in `meta`
  void finish();                               // completes, loads and verifies the temporary file, then renames it

  uint64_t file_bytes() const;  // of the whole file, known from the start

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Where an output may go: Error when `path` is a folder or anything but a regular file, empty, or in a folder that is not there.
void output_check(const std::string& path);

}  // namespace nyb
