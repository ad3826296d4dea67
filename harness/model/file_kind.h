// file_kind.h - what a file seems to be, by how it begins.
#pragma once
#include <cstdint>
#include <span>

namespace nyb {

enum class FileKind : uint8_t {
  mnm,   // a model file of this project
  mnm1,  // of its version 1
  gguf,
  safetensors,
  llama2c,  // of version 1 or later; those of version 0 have nothing to know them by
  other
};

FileKind file_kind(std::span<const uint8_t> bytes);

}  // namespace nyb
