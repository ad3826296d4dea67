// gguf_pre.h - what the names of tokenizer.ggml.pre stand for.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace nyb {

struct GgufPre {
  std::string_view name;
  std::vector<std::string_view> patterns;  // in the dialect of tokenizer.json
  bool whole_words = false;                // a word that is a token is taken whole (ignore_merges)
  bool adds_bos = false;                   // where the file does not say
  bool nfc = false;  // texts are put into this form first: the file never says, the model's tokenizer.json does
};

const std::vector<GgufPre>& gguf_pres();  // all that are known

// nullptr when the name is not known.
const GgufPre* gguf_pre(std::string_view name);

std::string gguf_pre_names();  // all that are, for a sentence

}  // namespace nyb
