// outline.h - what a model is, from its headers alone: no weight is read.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include "model/model.h"
#include "model/shapes.h"

namespace nyb {

struct ModelOutline {
  std::string name, kind;  // kind: "known shape", "model file", "folder", ...
  ModelShape shape;
  bool tied = false;
  uint64_t files_bytes = 0;  // of what was looked at; 0: nothing
  // of a model file, and of a source as quantize keeps its types: what its tensors are and take
  std::string type_name;
  std::optional<ModelCost> cost;
  bool fixed = false;  // a model file: no other types are to be had
};

// A known shape by its name, unless a file or folder of that name is there; an .mnm; or what quantize reads. Throws Error: one
// sentence that names it and says what it could be.
ModelOutline model_outline(const std::string& name_or_path);

}  // namespace nyb
