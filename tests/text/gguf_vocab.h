// gguf_vocab.h - the strings and ids that lie beside a tokenizer's GGUF file in ../shared/data/vocab.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "support/data.h"
#include "text_support.h"

namespace nyb::test {

std::vector<std::string> vocab_texts(const std::filesystem::path& gguf);  // of the .inp beside it
std::vector<Ids> vocab_ids(const std::filesystem::path& gguf);            // of the .out

}  // namespace nyb::test
