// convert.h - from an opened source to a model file.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>
#include "model/measure.h"
#include "model/source.h"
#include "model/tensor.h"

namespace nyb {

struct ConvertOptions {
  // Nothing: as the source has it (keep.h).
  std::optional<TType> type = TType::q8;             // of the matrices
  std::optional<TType> head = TType::q8;             // of what makes the logits: the head, or the embedding when it is tied
  bool fit = true;                                   // search int4 scales
  std::function<void(uint64_t, uint64_t)> progress;  // values done, values in all; may throw to stop
};

// What became of the tensors of one kind ("embed", "q" ... "norms").
struct ConvertKind {
  std::string kind;
  std::string types;  // "q8", "q4, q8" where some tensors were kept in int8, "q5_K as q8_0" where the source's type is kept
  uint64_t bytes = 0;
  ErrorSum weights, product;
};

struct ConvertReport {
  std::vector<ConvertKind> kinds;  // in the order of the file
  std::vector<std::string> notes;  // one sentence each: what was kept in int8, which rows became zero
  uint64_t file_bytes = 0, params = 0;
};

// Writes `out` (MnmWriter: under a temporary name until whole and checked). The same source, metadata and options give the same
// bytes. Every weight is read twice: first to find NaN, infinity (Error naming tensor and index) and scales that int4 cannot hold,
// then to be converted. Memory is a few blocks of rows.
ConvertReport convert(const ModelSource& src, const std::string& out, const ConvertOptions& options);

}  // namespace nyb
