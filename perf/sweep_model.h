// sweep_model.h - the models of a sweep: files, or known shapes with random weights.
#pragma once
#include <memory>
#include <string>
#include "model/model.h"
#include "model/shapes.h"

namespace nyb {

struct SweepModel {
  std::string label;  // "126m", or the file's name for itself
  std::unique_ptr<Model> model;
};

// Throws Error listing the known ones.
const NamedShape& known_shape(const std::string& name);

// Random weights of a known shape. A file up to 1 GiB is made anew and has no name left once it is mapped; a larger one stays in
// the cache folder and serves the next time (kept_shape.h). Throws Error for an unknown shape (listing the known ones), for no
// room, and for LoadMode::huge where there are no huge pages.
SweepModel shape_model(const std::string& shape, TType type, LoadMode load);

// Writes them as a model file that stays, under a temporary name until it is whole. Throws Error likewise.
void write_shape(const std::string& path, const std::string& shape, TType type);

SweepModel file_model(const std::string& path, LoadMode load);

}  // namespace nyb
