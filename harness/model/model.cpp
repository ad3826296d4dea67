// model.cpp - loading: the checks in their order, then pointers into the map.
#include "model/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>

#include "kern/error.h"
#include "model/copied_file.h"
#include "model/file_kind.h"
#include "model/format.h"
#include "model/load_check.h"
#include "model/mapped_file.h"
#include "model/meta_io.h"
#include "model/shapes.h"

namespace nyb {

struct Model::File {
  std::optional<MappedFile> map;
  std::optional<CopiedFile> copy;  // one of the two
};

Model::~Model() = default;
std::span<const uint8_t> Model::bytes() const { return file_->map ? file_->map->bytes() : file_->copy->bytes(); }

bool ModelShape::turns(size_t layer) const { return !std::binary_search(no_rope.begin(), no_rope.end(), layer); }

uint64_t ModelShape::first_seen(size_t layer, uint64_t pos) const {
  const uint64_t window = windows.empty() ? 0 : windows[layer];
  return window == 0 || window > pos ? 0 : pos + 1 - window;
}

std::string_view load_name(LoadMode m) { return m == LoadMode::huge ? "huge" : "map"; }

namespace {

// What the file seems to be instead, with what to do about it.
std::string other_format(std::span<const uint8_t> b) {
  switch (file_kind(b)) {
    case FileKind::mnm1: return "this is a version 1 model file (MNMODEL1), from which quantize makes an .mnm of version 2";
    case FileKind::gguf: return "this is a GGUF file; quantize converts models to .mnm";
    case FileKind::safetensors: return "this is a safetensors file; quantize converts its whole folder to .mnm";
    case FileKind::llama2c: return "this is a llama2.c file; quantize converts it to .mnm";
    default: break;
  }
  const std::string_view head(reinterpret_cast<const char*>(b.data()), std::min<size_t>(b.size(), 8));
  return fmt::format("this is not a model file (it begins with {} where \"{}\" belongs); quantize makes them of other models",
                     shown(head), kMagic);
}

void fill_layers(Model& m, bool tied) {
  const std::vector<LayerSlot> slots = layer_slots(m.shape);
  const Tensor* t = m.tensors.data();
  m.embed = t++;
  m.layers.resize(m.shape.layers);
  for (LayerTensors& l : m.layers)
    for (const LayerSlot& s : slots) l.*s.at = t++;
  m.out_norm = t++;
  m.head = tied ? m.embed : t;
}

}  // namespace

std::unique_ptr<Model> eng_load(const std::string& path, const LoadOptions& options) {
  std::unique_ptr<Model> m(new Model);
  m->load = options.mode;
  m->file_ = std::make_unique<Model::File>();
  try {
    if (options.mode == LoadMode::huge) {
      const auto start = std::chrono::steady_clock::now();
      m->file_->copy.emplace(path, options.progress);
      m->read_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    } else {
      m->file_->map.emplace(path);
    }
  } catch (const Error& e) {
    std::error_code ec;
    if (std::filesystem::is_directory(path, ec))
      throw Error(path + ": this is a folder, but not of a model (it has no config.json)");
    throw;
  }
  const std::span<const uint8_t> file = m->bytes();
  if (file_kind(file) != FileKind::mnm) throw Error(path + ": " + other_format(file));
  Front front = front_check(file, path);
  m->path = path;
  m->file_bytes = file.size();
  m->checksum = get_le<uint64_t>(file.data() + at::header_hash);
  m->shape = std::move(front.shape);
  m->meta = std::move(front.meta);
  m->tensors = std::move(front.tensors);
  for (const Tensor& t : m->tensors) m->weight_bytes += t.bytes;
  const auto* name = m->meta.find<std::string>(key::name);
  m->name = name && !name->empty() ? *name : std::filesystem::path(path).stem().string();
  fill_layers(*m, front.tied);
  m->type_name = type_names(m->tensors, front.tied);
  values_check(*m);
  return m;
}

}  // namespace nyb
