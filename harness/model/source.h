// source.h - a model in someone else's format, opened to be converted: importers fill it, convert() reads it.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>
#include "model/ggml_type.h"
#include "model/mapped_file.h"
#include "model/meta.h"
#include "model/model.h"
#include "model/tensor.h"

namespace nyb {
struct GgufTensor;

// q8: all values in int8, and an f32 scale for each `group` of them. q4: groups of 32 along a row, each 16 bytes as in Q4_0 (byte j
// holds q[j] + 8 and, above it, q[j + 16] + 8), and an f32 scale for each. ggml: blocks of `block`, which is none of floats.
// panels: as a model file has them (tensor.h), of `panel`; such a source is exported only.
enum class SourceType : uint8_t { f32, f16, bf16, q8, q4, ggml, panels };

// A row-major tensor of a mapped source file, at any alignment. Nothing is owned.
struct SourceTensor {
  std::string name;  // as the source has it
  SourceType type = SourceType::f32;
  std::vector<uint64_t> shape;
  const uint8_t* data = nullptr;
  uint64_t bytes = 0;
  size_t file = 0;                  // which of the source's files
  uint64_t group = 0;               // of q8 and q4
  const uint8_t* scales = nullptr;  // of q8 and q4
  GgmlType block{};                 // of ggml
  TType panel{};                    // of panels
  uint64_t pairs_of = 0;            // not 0: every so many rows are a head whose RoPE turns rows 2i and 2i + 1
};
uint64_t source_type_bytes(SourceType t);  // of a value, without its scale; not of q4, ggml and panels

float source_scale(const SourceTensor& t, uint64_t group);  // of q8 and q4, groups in the source's own order
Tensor source_panels(const SourceTensor& t);                // of panels

// Where row `row` of a matrix, as a model file has it, is in the source: a model file turns rows i and i + n/2 of a head.
uint64_t source_row(const SourceTensor& t, uint64_t row);

// `n` values from index `first` on, in the order of the model file, as floats (each format's values are floats exactly; of q8 and
// q4, the product of value and scale rounded to one; of ggml what its own dequantize_row_* give; of panels what panel_row gives).
void source_read(const SourceTensor& t, uint64_t first, uint64_t n, float* out);
// The values will not be read again soon: their pages need not stay in memory.
void source_release(const SourceTensor& t);

struct ModelSource {
  std::string path;
  std::vector<MappedFile> files;
  std::shared_ptr<const Model> loaded;  // of a model file: what its tensors lie in
  ModelShape shape;
  bool tied = false;
  Meta meta;                          // all that running needs but the tokenizer
  uint64_t tokenizer_hash = 0;        // of the tokenizer file that belongs to it, as both say; 0: any may
  std::vector<SourceTensor> tensors;  // one for each of model_slots(shape, tied), in that order, of its size
};

// The beginning of a source that is one file: mapped, with what it is called. `name` is what to call the model, by default the
// file's name without its ending. Throws Error as MappedFile does.
ModelSource source_of_file(const std::string& path, const std::string& name);

// Opens a Hugging Face folder of a model of one of the families (family.h): config.json, and model.safetensors or
// model.safetensors.index.json with its parts. `name` is what to call the model, by default the folder's name. Throws Error: one
// sentence naming the file and the key or tensor that is missing, unexpected, malformed or beyond what this program runs.
ModelSource hf_open(const std::string& folder, const std::string& name = {});

// Opens a model file of llama2.c, of any of its versions: 0 (no magic, f32), 1 (f32) and 2 (int8 in groups). `name` as above, by
// default the file's name without its ending. Throws Error likewise.
ModelSource llama2c_open(const std::string& path, const std::string& name = {});

// Opens a GGUF file (gguf.h) of one of the families; a part of a model in several files opens all of them. `name` as above, by
// default what the file says, or its name without its ending. Throws Error likewise.
ModelSource gguf_open(const std::string& path, const std::string& name = {});

// A tensor of a GGUF, of a type that is read (dequant.h), so that its values can be read.
SourceTensor source_of_gguf(const GgufTensor& t);

// Opens a version 1 model file (MNMODEL1) in f32, int8 or int4. `name` as above, by default the file's name without its ending.
// Throws Error likewise.
ModelSource mnm1_open(const std::string& path, const std::string& name = {});

// Opens a model file of this program, its tokenizer among the metadata. Throws Error as eng_load does.
ModelSource mnm_open(const std::string& path, const std::string& name = {});

// Opens whichever of the others `in` is: a folder, or a file by what is in it.
ModelSource source_open(const std::string& in, const std::string& name = {});

}  // namespace nyb
