#include "common/import_model.h"
#include <fmt/format.h>
#include <filesystem>
#include "kern/error.h"
#include "model/file_kind.h"
#include "model/gguf.h"
#include "model/look.h"
#include "text/tokenizer.h"

namespace nyb {
namespace fs = std::filesystem;

namespace {

FileKind kind_of(const ModelSource& src) { return file_kind(src.files.front().bytes()); }

void given_tokenizer(ModelSource& src, const std::string& tokenizer) {
  if (kind_of(src) == FileKind::mnm1)
    tok_import_mnm1(tokenizer, src.shape.vocab, src.tokenizer_hash, src.meta);
  else
    tok_import_llama2c(tokenizer, src.shape.vocab, src.meta);
}

}  // namespace

ModelSource import_model(const std::string& in, const std::string& name, const std::string& tokenizer) {
  const bool folder = file_look(in) == fs::file_type::directory;
  ModelSource src = source_open(in, name);
  if (folder) {
    if (const std::string own = (fs::path(in) / "tokenizer.json").string(); !tokenizer.empty() && file_there(own))
      throw Error(own + ": the model has this tokenizer of its own; leave out --tokenizer");
    if (tokenizer.empty()) tok_import_hf(in, src.shape.vocab, src.meta);
  } else if (kind_of(src) == FileKind::gguf && tokenizer.empty()) {
    tok_import_gguf(Gguf(src.files.front().path()), src.shape.vocab, src.meta);
  }
  if (!tokenizer.empty()) given_tokenizer(src, tokenizer);
  return src;
}

std::optional<TType> usual_type(const ModelSource& src) {
  const FileKind kind = kind_of(src);
  return kind == FileKind::gguf || kind == FileKind::mnm1 ? std::nullopt : std::optional(TType::q8);
}

}  // namespace nyb
