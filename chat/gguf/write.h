// write.h - one model written as one GGUF.
#pragma once
#include <optional>
#include <string>
#include "model/gguf_export.h"
#include "model/source.h"

namespace nyb {

// A model file of this program, or what quantize reads, with its tokenizer. Throws Error: one sentence that names the file.
ModelSource gguf_source(const std::string& in, const std::string& name, const std::string& tokenizer);

// "f32", "f16", "bf16", "q8_0", "q4_0"; nothing: "keep". All of them, as an option lists them.
std::optional<GgmlType> gguf_type_of(std::string_view name);
const std::vector<std::string>& gguf_type_names();

struct GgufWrite {
  std::string out, type, head;  // names of types; no head: as the type
  bool fit = true, quiet = false;
};
// Says on stderr what the GGUF has otherwise, and on stdout what was written.
void gguf_write_model(const ModelSource& src, const GgufWrite& what);

}  // namespace nyb
