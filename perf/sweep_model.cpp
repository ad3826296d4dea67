// sweep_model.cpp - models to measure.
#include "sweep_model.h"
#include <fmt/format.h>
#include "common/app.h"
#include "common/folders.h"
#include "huge.h"
#include "kept_shape.h"
#include "model/random_model.h"
#include "passing_file.h"

namespace nyb {
namespace {

constexpr uint64_t kKeptFrom = uint64_t{1} << 30;

std::unique_ptr<Model> loaded(const std::string& path, LoadMode load) {
  if (load == LoadMode::map) return eng_load(path);
  return eng_load(path, {load, progress_reporter("reading the weights into huge pages", true)});
}

std::function<void(uint64_t, uint64_t)> making(uint64_t bytes, TType type) {
  return progress_reporter(fmt::format("making {} of random {} weights", human_bytes(bytes), ttype_name(type)), true);
}

// Before anything is written or read
void check_load(LoadMode load) {
  if (load == LoadMode::huge) huge_pages_needed("--load huge");
}

uint64_t weights_of(const NamedShape& shape, TType type) { return model_cost(shape.shape(), shape.tied, type, type).weights; }

}  // namespace

const NamedShape& known_shape(const std::string& name) {
  if (const NamedShape* shape = shape_find(name)) return *shape;
  throw Error(fmt::format("there is no shape '{}'; there are {}", human_words(name), shape_names()));
}

SweepModel shape_model(const std::string& name, TType type, LoadMode load) {
  const NamedShape& shape = known_shape(name);
  check_load(load);
  const uint64_t bytes = weights_of(shape, type);
  const std::string folder = cache_folder("shapes");
  passing_files_tidy(folder);
  const auto progress = making(bytes, type);
  if (bytes >= kKeptFrom)
    return {name, kept_shape(
                      folder, shape, type, [=](const std::string& path) { return loaded(path, load); }, progress)};
  const PassingFile file(folder, fmt::format("{}-{}", name, ttype_name(type)));
  random_model(file.path(), shape, type, type, progress);
  return {name, loaded(file.path(), load)};
}

void write_shape(const std::string& path, const std::string& name, TType type) {
  const NamedShape& shape = known_shape(name);
  random_model(path, shape, type, type, making(weights_of(shape, type), type));
}

SweepModel file_model(const std::string& path, LoadMode load) {
  check_load(load);
  std::unique_ptr<Model> m = loaded(path, load);
  std::string label = m->name;
  return {std::move(label), std::move(m)};
}

}  // namespace nyb
