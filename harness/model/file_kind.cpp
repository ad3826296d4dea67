#include "model/file_kind.h"

#include <algorithm>
#include <string_view>

#include "model/format.h"

namespace nyb {

FileKind file_kind(std::span<const uint8_t> b) {
  const std::string_view head(reinterpret_cast<const char*>(b.data()), std::min<size_t>(b.size(), 16));
  if (head.starts_with(kMagic)) return FileKind::mnm;
  if (head.starts_with("MNMODEL1")) return FileKind::mnm1;
  if (head.starts_with("GGUF")) return FileKind::gguf;
  if (head.starts_with("24ka")) return FileKind::llama2c;  // "ak42" as a number
  if (head.size() > 9 && head[8] == '{') return FileKind::safetensors;
  return FileKind::other;
}

}  // namespace nyb
