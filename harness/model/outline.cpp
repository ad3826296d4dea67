// outline.cpp - from a name or a path to a shape.
#include "model/outline.h"
#include <fmt/format.h>
#include <filesystem>
#include "kern/error.h"
#include "model/file_kind.h"
#include "model/format.h"
#include "model/keep.h"
#include "model/load_check.h"
#include "model/look.h"
#include "model/mapped_file.h"
#include "model/meta.h"
#include "model/source.h"

namespace nyb {
namespace {
namespace fs = std::filesystem;

ModelOutline of_mnm(const MappedFile& file, const std::string& path) {
  Front front = front_check(file.bytes(), path);
  ModelOutline o;
  o.kind = "model file";
  o.fixed = true;
  o.name = path;
  o.shape = std::move(front.shape);
  o.tied = front.tied;
  o.files_bytes = file.size();
  o.cost = model_cost(front.tensors, o.tied);
  o.type_name = type_names(front.tensors, o.tied);
  return o;
}

ModelOutline of_source(const std::string& path, bool folder) {
  const ModelSource src = source_open(path);
  ModelOutline o;
  const bool gguf = file_kind(src.files.front().bytes()) == FileKind::gguf;
  o.kind = folder ? "folder" : gguf ? "GGUF file" : "file of another format";
  o.name = src.meta.get<std::string>(key::name);
  o.shape = src.shape;
  o.tied = src.tied;
  o.shape.params = 0;
  std::vector<Tensor> kept;  // as quantize keeps a source's types
  for (const TensorSlot& t : model_slots(src.shape, src.tied)) {
    o.shape.params += t.rows * t.cols;
    const TType type = t.matrix ? type_kept(src.tensors[kept.size()]).type : TType::vec;
    kept.push_back({t.name, type, t.rows, t.cols, nullptr, tensor_bytes(type, t.rows, t.cols), 0, 0});
  }
  o.cost = model_cost(kept, src.tied);
  o.type_name = type_names(kept, src.tied);
  for (const MappedFile& f : src.files) o.files_bytes += f.size();
  return o;
}

}  // namespace

ModelOutline model_outline(const std::string& name) {
  const fs::file_type type = file_look(name);
  if (type == fs::file_type::not_found) {
    const NamedShape* s = shape_find(name);
    if (!s)
      throw Error(fmt::format("'{}' is neither a file, nor a folder, nor a known shape; the shapes are {}", name, shape_names()));
    return {std::string(s->name), "known shape", s->shape(), s->tied, 0, {}, {}, false};
  }
  if (type == fs::file_type::directory) return of_source(name, true);
  const MappedFile file(name);
  return file_kind(file.bytes()) == FileKind::mnm ? of_mnm(file, name) : of_source(name, false);
}

}  // namespace nyb
