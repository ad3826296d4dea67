// hf.cpp - a Hugging Face folder: which files, which tensors, and whether they are what config.json says.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <map>

#include "kern/error.h"
#include "kern/mxcsr.h"
#include "model/format.h"
#include "model/hf_config.h"
#include "model/json.h"
#include "model/look.h"
#include "model/meta_io.h"
#include "model/safetensors.h"
#include "model/source.h"

namespace nyb {
namespace {
namespace fs = std::filesystem;

using Found = std::map<std::string, SourceTensor>;

// "layers.3.q" of a model file is "model.layers.3.self_attn.q_proj.weight" there
std::string hf_name(const std::string& slot) {
  if (slot == "embed") return "model.embed_tokens.weight";
  if (slot == "out_norm") return "model.norm.weight";
  if (slot == "head") return "lm_head.weight";
  static const std::map<std::string, std::string, std::less<>> parts = {{"attn_norm", "input_layernorm.weight"},
                                                                        {"q", "self_attn.q_proj.weight"},
                                                                        {"k", "self_attn.k_proj.weight"},
                                                                        {"v", "self_attn.v_proj.weight"},
                                                                        {"q_bias", "self_attn.q_proj.bias"},
                                                                        {"k_bias", "self_attn.k_proj.bias"},
                                                                        {"v_bias", "self_attn.v_proj.bias"},
                                                                        {"q_norm", "self_attn.q_norm.weight"},
                                                                        {"k_norm", "self_attn.k_norm.weight"},
                                                                        {"o", "self_attn.o_proj.weight"},
                                                                        {"o_bias", "self_attn.o_proj.bias"},
                                                                        {"gate", "mlp.gate_proj.weight"},
                                                                        {"up", "mlp.up_proj.weight"},
                                                                        {"down", "mlp.down_proj.weight"},
                                                                        {"ffn_norm", "post_attention_layernorm.weight"}};
  const size_t dot = slot.rfind('.');
  return "model." + slot.substr(0, dot + 1) + parts.at(slot.substr(dot + 1));
}

void add_file(ModelSource& src, const std::string& path, Found& found) {
  src.files.emplace_back(path);
  for (SourceTensor& t : safetensors_read(src.files.back())) {
    t.file = src.files.size() - 1;
    const auto [it, fresh] = found.emplace(t.name, t);
    if (!fresh) throw Error(fmt::format("{}: tensor {} is in {} as well", path, shown(t.name), src.files[it->second.file].path()));
  }
}

// The index names a file for each tensor; every file is opened once, in the order of their names.
void add_shards(ModelSource& src, const fs::path& folder, const std::string& index, Found& found) {
  nlohmann::json o;
  {
    const MappedFile file(index);
    constexpr uint64_t most = 32 << 20;
    if (file.size() > most)
      throw Error(fmt::format("{}: the file has {} bytes, more than the {} that are read", index, file.size(), most));
    o = json_strict(file.bytes(), index, 8);
  }
  if (!o.is_object() || !o.contains("weight_map") || !o["weight_map"].is_object()) throw Error(index + ": weight_map is missing");
  std::map<std::string, std::string> where;  // tensor to file
  std::map<std::string, size_t> files;
  for (const auto& [tensor, file] : o["weight_map"].items()) {
    if (!file.is_string()) throw Error(fmt::format("{}: the file of tensor {} is not a string", index, shown(tensor)));
    const auto& f = file.get_ref<const std::string&>();
    // a name, not a way out of the folder
    if (f.empty() || f == "." || f == ".." || f.find('/') != std::string::npos || f.find('\0') != std::string::npos)
      throw Error(fmt::format("{}: tensor {} is said to be in {}, which is not a file's name", index, shown(tensor), shown(f)));
    where[tensor] = f;
    files.emplace(f, 0);
  }
  for (auto& [f, number] : files) {
    number = src.files.size();
    add_file(src, (folder / f).string(), found);
  }
  for (const auto& [tensor, f] : where) {
    const auto it = found.find(tensor);
    if (it == found.end() || it->second.file != files[f])
      throw Error(fmt::format("{}: tensor {} is not in {}, where it should be", index, shown(tensor), shown(f)));
  }
  for (const auto& [tensor, t] : found)
    if (!where.contains(tensor))
      throw Error(fmt::format("{}: tensor {} is not in the index", src.files[t.file].path(), shown(tensor)));
}

// Buffers that old checkpoints hold and nobody reads.
bool ignorable(const std::string& name) { return name.ends_with(".rotary_emb.inv_freq"); }

std::string shape_text(const std::vector<uint64_t>& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

void take_tensors(ModelSource& src, Found& found) {
  for (const TensorSlot& slot : model_slots(src.shape, src.tied)) {
    const std::string name = hf_name(slot.name);
    const auto it = found.find(name);
    if (it == found.end()) {
      const bool head = slot.name == "head";
      throw Error(fmt::format("{}: tensor {} is missing{}", src.path, name,
                              head ? ", and config.json does not say tie_word_embeddings" : ""));
    }
    const SourceTensor& t = it->second;
    const std::vector<uint64_t> want = slot.matrix ? std::vector<uint64_t>{slot.rows, slot.cols} : std::vector<uint64_t>{slot.cols};
    if (t.shape != want)
      throw Error(fmt::format("{}: tensor {} has shape {} where config.json asks for {}", src.files[t.file].path(), name,
                              shape_text(t.shape), shape_text(want)));
    src.tensors.push_back(t);
    found.erase(it);
  }
}

// A tied model may hold its head once more: then it has to be the embedding.
void tied_head(const ModelSource& src, Found& found) {
  const auto it = found.find("lm_head.weight");
  if (!src.tied || it == found.end()) return;
  const SourceTensor &h = it->second, &e = src.tensors.front();
  if (h.type != e.type || h.shape != e.shape || std::memcmp(h.data, e.data, e.bytes) != 0)
    throw Error(fmt::format("{}: lm_head.weight differs from the embedding, but config.json says tie_word_embeddings",
                            src.files[h.file].path()));
  found.erase(it);
}

}  // namespace

ModelSource hf_open(const std::string& folder, const std::string& name) {
  const MxcsrScope float_rules;  // for the frequencies
  const fs::path dir(folder);
  const fs::file_type kind = file_look(folder);
  if (kind == fs::file_type::not_found) throw Error(folder + ": there is no such folder");
  if (kind != fs::file_type::directory) throw Error(folder + ": this is not a folder");
  if (!file_there((dir / "config.json").string())) throw Error(folder + ": there is no config.json in this folder");
  ModelSource src;
  src.path = folder;
  src.tied = hf_config((dir / "config.json").string(), src.shape, src.meta);
  std::error_code ec;
  const std::string folder_name = fs::canonical(dir, ec).filename().string();
  src.meta.set(key::source_file, folder_name);
  src.meta.set(key::name, name.empty() ? folder_name : name);

  Found found;
  const fs::path single = dir / "model.safetensors", index = dir / "model.safetensors.index.json";
  if (file_there(single.string()))
    add_file(src, single.string(), found);
  else if (file_there(index.string()))
    add_shards(src, dir, index.string(), found);
  else
    throw Error(folder + ": there is neither model.safetensors nor model.safetensors.index.json in this folder");
  take_tensors(src, found);
  tied_head(src, found);
  for (const auto& [n, t] : found)
    if (!ignorable(n))
      throw Error(fmt::format("{}: tensor {} is not part of a {} model", src.files[t.file].path(), shown(n),
                              src.meta.get<std::string>(key::family)));
  return src;
}

}  // namespace nyb
