// family.h - the model families that run, one row a family: what their layers have, and what is taken where a source does not say.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include "model/meta.h"
#include "model/model.h"

namespace nyb {

// Which products of attention have a bias.
enum class Biases : uint8_t {
  none,
  qkv,    // q, k and v, always
  asked,  // q, k, v and o, where attention_bias is true
};

// Which layers see a window of the last positions only, if any do.
enum class Windows : uint8_t {
  none,
  every_layer,     // sliding_window; it has a default
  last_layers,     // where use_sliding_window is true: the listed ones, else those from max_window_layers on
  no_rope_layers,  // where use_sliding_window is true: the listed ones, else those without RoPE
};

// Everything else is the same in all of them: RMSNorm before attention and before the feed-forward part, RoPE over a whole head in
// pairs (i, i + n/2), scores divided by the root of the head dimension, SwiGLU with silu. Defaults are those of transformers'
// configuration classes (src/transformers/models/*/configuration_*.py).
struct Family {
  std::string_view name;             // in a model file, and model_type in config.json
  std::string_view hf_architecture;  // in config.json
  std::string_view gguf;  // general.architecture that it is written and read under; rows that share one: the first is read
  bool gguf_pairs;        // in a GGUF the rows of q and k are in the order of pairs (2i, 2i + 1)
  Biases biases;
  bool qk_norm;               // RMSNorm over each head of q and k, before RoPE
  uint32_t no_rope_interval;  // every so many layers one has no RoPE, unless they are listed; 0: all have it
  Windows windows;
  uint32_t window;    // where sliding_window is not given; 0: none
  uint32_t kv_heads;  // 0: as many as heads
  uint32_t head_dim;  // 0: dim / heads
  uint32_t ctx;
  double rope_theta, norm_eps;
  bool tied;  // the head is the embedding
};

std::span<const Family> families();
// nullptr: there is none.
const Family* family_find(std::string_view name);
const Family* family_of_hf(std::string_view architecture);
const Family* family_of_gguf(std::string_view architecture);
// "llama, mistral, ..." by any of the three names, each once: what an error lists.
std::string family_names(std::string_view Family::*which);

// The layers without RoPE where one in `interval` has none: interval - 1, 2 x interval - 1 ... 0: none.
std::vector<uint32_t> every_no_rope(uint32_t interval, uint32_t layers);

// Sets all that running needs beside the header: the family, RMSNorm's `eps` (finite, above zero; the caller has checked it) and
// what `shape` says besides its integers, with attention's scale 1 / sqrt(head_dim). Optional keys are there only where they are
// needed, so that what a family does not have leaves no trace. Throws Error, beginning with `where`, for frequencies that are too
// high for the context.
void family_meta(const Family& family, const ModelShape& shape, double eps, const std::string& where, Meta& meta);

}  // namespace nyb
