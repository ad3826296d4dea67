// rope_table.h - cosines and sines of every position, computed once.
#pragma once
#include <cstddef>

#include "engine/buffer.h"
#include "model/model.h"

namespace nyb {

// angle = double(position) * frequency; its cosine and sine, rounded to f32, times the factor in f32.
class RopeTable {
 public:
  RopeTable(const ModelShape& shape, size_t ctx);  // throws Error when there is no memory
  void extend(size_t positions);                   // makes positions 0..positions-1 ready; one thread at a time
  size_t half() const { return half_; }            // pairs that turn; 0: the model has no RoPE
  const float* cos(size_t pos) const { return cos_.at(pos * half_); }
  const float* sin(size_t pos) const { return sin_.at(pos * half_); }
  size_t bytes() const { return cos_.bytes() + sin_.bytes(); }

 private:
  const std::vector<double>& freqs_;
  float factor_;
  size_t half_, ready_ = 0;
  Buffer<float> cos_, sin_;
};

}  // namespace nyb
