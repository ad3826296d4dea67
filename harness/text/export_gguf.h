// export_gguf.h - a tokenizer of a model file as keys of a GGUF.
#pragma once
#include <string>
#include <vector>
#include "model/gguf_write.h"
#include "model/meta.h"

namespace nyb {

// The keys tokenizer.* that llama.cpp reads, with the chat template. Every token gets a text of its own, which llama.cpp asks for:
// those that have none, or another's, are called <|reserved_N|>. `notes` receives where texts become other ids there, each with an
// example. Without tok.kind the GGUF says that there is no tokenizer. Throws Error naming a key at fault.
void tok_export_gguf(const Meta& meta, GgufKeys& out, std::vector<std::string>& notes);

// How a model file's way to cut text is called in tokenizer.ggml.pre.
struct PreChoice {
  std::string name;
  std::string note;  // where none is quite the same: the nearest, and a text that it cuts otherwise
};
PreChoice gguf_pre_of(const std::vector<std::string>& patterns, bool whole_words);

}  // namespace nyb
