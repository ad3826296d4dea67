// shapes.h - the shapes of known models by name, and how much each takes, with no file at hand.
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>
#include "model/model.h"

namespace nyb {

// As the models' own config.json has them.
struct NamedShape {
  std::string_view name;    // "qwen2.5-1.5b"
  std::string_view family;  // "qwen2"
  uint32_t layers, dim, heads, kv_heads, head_dim, ffn, vocab, ctx;
  bool tied;  // the output is the embedding
  double rope_base;

  ModelShape shape() const;  // with params; no frequencies
};

std::span<const NamedShape> named_shapes();
const NamedShape* shape_find(std::string_view name);  // nullptr: there is none
std::string shape_names();                            // "126m, qwen2.5-0.5b, ..."

// What a model weighs. Bytes are those of the tensors; a file has its header, table, metadata and tokenizer besides.
struct ModelCost {
  uint64_t weights = 0;               // of all tensors
  uint64_t read_per_token = 0;        // of them: all but an input embedding of its own, of which a token reads one row
  uint64_t macs_per_token = 0;        // multiply-adds of the matrices
  std::map<TType, uint64_t> read_of;  // read_per_token, by the types of the tensors
};

// The matrices in `type`, the output (and a tied embedding) in `head`, an embedding of its own in `type`; the norms in f32.
ModelCost model_cost(const ModelShape& shape, bool tied, TType type, TType head);
ModelCost model_cost(const std::vector<Tensor>& tensors, bool tied);

// The types of a whole model's tensors, in the order of the file: "q8"; "q4 (head q8)" where the head differs from the layers;
// "q4, some q8" where the layers differ among themselves. Most bytes of the layers decide which is named first.
std::string type_names(const std::vector<Tensor>& tensors, bool tied);

}  // namespace nyb
