// writer.h - writes a model file: tensors one after the other under a temporary name, renamed when whole.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
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
// finish(): the temporary file is removed and nothing else has changed. Errors (a full disk, no permission) are Error.
class MnmWriter {
 public:
  MnmWriter(std::string path, const ModelShape& shape, const Meta& meta, std::vector<TensorPlan> plan);
  ~MnmWriter();
  void tensor(const void* bytes, uint64_t n);   // the next part of the tensor at hand; a tensor ends when its size is reached
  void finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace nyb
