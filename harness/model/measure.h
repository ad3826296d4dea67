// measure.h - how much a converted matrix differs from its source.
#pragma once
#include <cmath>
#include <cstdint>
#include <vector>
#include "kern/kern.h"
#include "model/tensor.h"

namespace nyb {

// A relative L2 error: squares of differences over squares of the true values.
struct ErrorSum {
  double difference = 0, value = 0;
  void add(double is, double was) {
    difference += (is - was) * (is - was);
    value += was * was;
  }
  void add(const ErrorSum& o) {
    difference += o.difference;
    value += o.value;
  }
  double relative() const { return value > 0 ? std::sqrt(difference / value) : 0; }
};

// Normal values, the same on every machine.
std::vector<float> normal_values(size_t n, uint64_t seed);

// One activation vector against panels of one matrix: in double from the source's weights, and as the engine does it from
// the panel, activations quantized where the type asks for it.
class ProductMeter {
 public:
  explicit ProductMeter(uint64_t cols, uint64_t seed = 0);  // the seed of the activations
  // `w` [rows][cols] are the source's weights, `panel` what became of them; scales as quant_panel gives them (q8 only).
  ErrorSum measure(TType type, const float* w, size_t rows, const uint8_t* panel, const float* scales) const;

 private:
  uint64_t cols_;
  std::vector<float> x_;
  std::vector<QxGroup> qx_;
};

// The same for the weights themselves.
ErrorSum weight_error(TType type, const float* w, size_t rows, size_t cols, const uint8_t* panel, const float* scales);

}  // namespace nyb
