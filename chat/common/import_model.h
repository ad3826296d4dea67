// import_model.h - someone else's model with its tokenizer, and the types it is converted to.
#pragma once
#include <optional>
#include <string>
#include "model/convert.h"
#include "model/source.h"

namespace nyb {

// source_open, and the tokenizer that belongs to it: that of the folder or the GGUF, or `tokenizer`, a file of llama2.c or MNTOKZR1
// for a model that comes without one. Throws Error: one sentence that names the file.
ModelSource import_model(const std::string& in, const std::string& name = {}, const std::string& tokenizer = {});

// How it is converted unless it is said otherwise: as it is where it comes quantized (nothing), else in q8.
std::optional<TType> usual_type(const ModelSource& src);

}  // namespace nyb
