// hf_config.h - config.json of a model of one of the families (family.h).
#pragma once
#include <string>
#include "model/meta.h"
#include "model/model.h"

namespace nyb {

// Fills shape and the metadata that running needs; returns whether the head is the embedding. Throws Error
// naming the file and the key that is missing, malformed or asks for what this program does not do.
bool hf_config(const std::string& path, ModelShape& shape, Meta& meta);

}  // namespace nyb
