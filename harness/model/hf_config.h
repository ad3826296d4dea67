// hf_config.h - config.json of a llama-architecture model.
#pragma once
#include <string>
#include "model/meta.h"
#include "model/model.h"

namespace nyb {

// Fills shape (its integers) and the metadata that running needs; returns whether the head is the embedding. Throws Error
// naming the file and the key that is missing, malformed or asks for what this program does not do.
bool hf_config(const std::string& path, ModelShape& shape, Meta& meta);

// The metadata of a llama model with RoPE of base `theta` and RMSNorm's `eps`, both checked by the caller to be finite and above
// zero; throws Error, beginning with `where`, for a base too small for the context.
void llama_meta(const ModelShape& shape, double theta, double eps, const std::string& where, Meta& meta);

}  // namespace nyb
