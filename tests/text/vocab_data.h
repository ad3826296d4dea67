// vocab_data.h - real tokenizers without weights, from ../shared/data/vocab, with the ids that llama.cpp gives for some strings.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "support/data.h"
#include "text_support.h"

namespace nyb::test {

std::filesystem::path vocab_file(const std::string& name);  // "gpt-2", "qwen2", "phi-3": a GGUF file
std::vector<std::string> vocab_texts(const std::string& name);
std::vector<Ids> vocab_ids(const std::string& name);
Meta vocab_meta(const std::string& name);  // the file as tok_import_gguf reads it

}  // namespace nyb::test
