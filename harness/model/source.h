// source.h - a model in someone else's format, opened to be converted: importers fill it, convert() reads it.
#pragma once
#include <cstdint>
#include <string>
#include <vector>
#include "model/mapped_file.h"
#include "model/meta.h"
#include "model/model.h"

namespace nyb {

enum class SourceType : uint8_t { f32, f16, bf16 };

// A row-major tensor of a mapped source file, at any alignment. Nothing is owned.
struct SourceTensor {
  std::string name;  // as the source has it
  SourceType type = SourceType::f32;
  std::vector<uint64_t> shape;
  const uint8_t* data = nullptr;
  uint64_t bytes = 0;
  size_t file = 0;  // which of the source's files
};
uint64_t source_type_bytes(SourceType t);

// `n` values from index `first` on, as floats (each format's values are floats exactly).
void source_read(const SourceTensor& t, uint64_t first, uint64_t n, float* out);
// The values will not be read again soon: their pages need not stay in memory.
void source_release(const SourceTensor& t);

struct ModelSource {
  std::string path;
  std::vector<MappedFile> files;
  ModelShape shape;
  bool tied = false;
  Meta meta;                          // all that running needs but the tokenizer
  std::vector<SourceTensor> tensors;  // one for each of model_slots(shape, tied), in that order, of its size
};

// Opens a Hugging Face folder of a llama-architecture model: config.json, and model.safetensors or model.safetensors.index.json
// with its parts. `name` is what to call the model, by default the folder's name. Throws Error: one sentence naming the file and
// the key or tensor that is missing, unexpected, malformed or beyond what this program runs.
ModelSource hf_open(const std::string& folder, const std::string& name = {});

}  // namespace nyb
