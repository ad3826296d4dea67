// gguf_rows.h - one row after the other of a source's matrix in a type of ggml's.
#pragma once
#include <cstdint>
#include <vector>
#include "model/ggml_type.h"
#include "model/source.h"

namespace nyb {

// The type that holds the source's integers and scales, or its floats, as they are; of int8 and int4 with f32 scales q8_0 and q4_0,
// whose scales are f16. Where rows are no whole number of its blocks, f16.
GgmlType gguf_kept_type(const SourceTensor& t);

// `type` for such rows: itself, or f16 where its blocks do not fit.
GgmlType gguf_fitting_type(GgmlType type, uint64_t cols);

// What did not fit, of all rows so far.
struct RowFaults {
  uint64_t saturated = 0;  // values of f16 or bf16, or scales in f16, that were too large
  uint64_t vanished = 0;   // groups that became zero, since their scale is too small for f16
};

// Writes rows of a matrix (or of a vector, its only one) as `type`.
class GgufRows {
 public:
  // type: f32, f16, bf16, q8_0, q4_0 or gguf_kept_type(t), of which `t`'s columns are whole blocks. `fit`: search Q4_0's scales.
  GgufRows(const SourceTensor& t, GgmlType type, bool fit);
  uint64_t row_bytes() const { return bytes_; }
  struct NotFinite {
    uint64_t col;
  };
  void row(uint64_t row, uint8_t* out);  // as the model file counts them; throws NotFinite
  const RowFaults& faults() const { return faults_; }
  const std::vector<float>& values() const { return values_; }  // of the last row

 private:
  bool own_group(uint64_t row, uint64_t g, uint8_t* out) const;  // the source's integers; false: f16 does not hold their scale
  void group(const float* w, uint8_t* out);

  const SourceTensor& t_;
  GgmlType type_;
  bool fit_, kept_;
  uint64_t cols_, bytes_;
  std::vector<float> values_;
  RowFaults faults_;
};

}  // namespace nyb
