// source_open.cpp - which importer reads what is there.
#include <filesystem>

#include "kern/error.h"
#include "model/file_kind.h"
#include "model/look.h"
#include "model/source.h"

namespace nyb {
namespace fs = std::filesystem;

ModelSource source_of_file(const std::string& path, const std::string& name) {
  ModelSource src;
  src.path = path;
  src.files.emplace_back(path);
  const fs::path file = fs::path(path).filename();
  src.meta.set(key::source_file, file.string());
  src.meta.set(key::name, name.empty() ? file.stem().string() : name);
  return src;
}

ModelSource mnm_open(const std::string& path, const std::string& name) {
  ModelSource src = source_of_file(path, name);
  src.loaded = eng_load(path);
  const Model& m = *src.loaded;
  src.shape = m.shape;
  src.tied = m.head == m.embed;
  src.meta = m.meta;
  src.meta.set(key::name, name.empty() ? m.name : name);
  for (const Tensor& t : m.tensors) {
    SourceTensor s;
    s.name = t.name;
    s.type = SourceType::panels;
    s.panel = t.type;
    s.shape = t.type == TType::vec ? std::vector<uint64_t>{t.cols} : std::vector<uint64_t>{t.rows, t.cols};
    s.data = t.data;
    s.bytes = t.bytes;
    src.tensors.push_back(std::move(s));
  }
  return src;
}

ModelSource source_open(const std::string& in, const std::string& name) {
  const fs::file_type type = file_look(in);
  if (type == fs::file_type::not_found) throw Error(in + ": there is no such file or folder");
  if (type == fs::file_type::directory) return hf_open(in, name);
  switch (file_kind(MappedFile(in).bytes())) {
    case FileKind::mnm: throw Error(in + ": this is a model file of this program already, which quantize does not convert again");
    case FileKind::mnm1: return mnm1_open(in, name);
    case FileKind::gguf: return gguf_open(in, name);
    case FileKind::safetensors:
      throw Error(in + ": this is a safetensors file; give its whole folder, with config.json, to quantize");
    default: return llama2c_open(in, name);
  }
}

}  // namespace nyb
