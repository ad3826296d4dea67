// gguf_export.h - from an opened source to a GGUF file that llama.cpp and what is built on it run.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>
#include "model/ggml_type.h"
#include "model/gguf_write.h"
#include "model/source.h"

namespace nyb {

struct ExportOptions {
  // f32, f16, bf16, q8_0 or q4_0; nothing: as the source has them.
  std::optional<GgmlType> type = GgmlType::q8_0;     // of the matrices
  std::optional<GgmlType> head = GgmlType::q8_0;     // of what makes the logits: the head, or the embedding when it is tied
  bool fit = true;                                   // search Q4_0's scales
  std::function<void(uint64_t, uint64_t)> progress;  // values done, values in all; may throw to stop
};

struct ExportReport {
  std::vector<std::string> notes;  // one sentence each: what the GGUF has otherwise
  uint64_t file_bytes = 0, params = 0;
};

// The keys of a model apart from its tokenizer. `notes` receives what the GGUF says otherwise than the source. Throws Error, one
// sentence that names the file, where the model is one that llama.cpp does not run as it is.
GgufKeys gguf_model_keys(const ModelSource& src, std::vector<float>& rope_factors, std::vector<std::string>& notes);

// The context that a GGUF of the model says: up to the smallest window.
uint32_t gguf_context(const ModelShape& shape);

// Writes `out` (GgufWriter: under a temporary name until whole), with `more` keys after those of the model. Integers and scales
// that the type asked for holds exactly are kept; other weights are rounded to it, and what f16 cannot hold becomes the nearest
// that it can. Rows that are no whole number of a type's blocks become f16. Norms, biases and RoPE's factors are f32. A weight that
// is not finite is an Error naming tensor and index. The same source and options give the same bytes. Memory is a few rows.
ExportReport gguf_export(const ModelSource& src, const GgufKeys& more, const std::string& out, const ExportOptions& options);

}  // namespace nyb
