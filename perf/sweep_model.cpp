// sweep_model.cpp - models to measure.
#include "sweep_model.h"
#include <fmt/format.h>
#include <unistd.h>
#include "common/app.h"
#include "common/folders.h"
#include "engine/memory.h"
#include "kept_shape.h"
#include "model/random_model.h"

namespace nyb {
namespace {

constexpr uint64_t kKeptFrom = uint64_t{1} << 30;

std::unique_ptr<Model> loaded(const std::string& path, LoadMode load) {
  if (load == LoadMode::map) return eng_load(path);
  if (const std::string off = huge_pages_off(); !off.empty())
    throw Error(fmt::format("--load huge is not to be had here: {}", off));
  return eng_load(path, {load, progress_reporter("reading the weights into huge pages", true)});
}

std::function<void(uint64_t, uint64_t)> making(uint64_t bytes, TType type) {
  return progress_reporter(fmt::format("making {} of random {} weights", human_bytes(bytes), ttype_name(type)), true);
}

uint64_t weights_of(const NamedShape& shape, TType type) { return model_cost(shape.shape(), shape.tied, type, type).weights; }

}  // namespace

const NamedShape& known_shape(const std::string& name) {
  if (const NamedShape* shape = shape_find(name)) return *shape;
  throw Error(fmt::format("there is no shape '{}'; there are {}", human_words(name), shape_names()));
}

SweepModel shape_model(const std::string& name, TType type, LoadMode load) {
  const NamedShape& shape = known_shape(name);
  const uint64_t bytes = weights_of(shape, type);
  const std::string folder = cache_folder("shapes");
  const auto progress = making(bytes, type);
  if (bytes >= kKeptFrom)
    return {name, kept_shape(
                      folder, shape, type, [=](const std::string& path) { return loaded(path, load); }, progress)};
  const std::string path = fmt::format("{}/{}-{}.{}.mnm", folder, name, ttype_name(type), getpid());
  random_model(path, shape, type, type, progress);
  SweepModel m{name, loaded(path, load)};
  unlink(path.c_str());  // the mapping stays
  return m;
}

void write_shape(const std::string& path, const std::string& name, TType type) {
  const NamedShape& shape = known_shape(name);
  random_model(path, shape, type, type, making(weights_of(shape, type), type));
}

SweepModel file_model(const std::string& path, LoadMode load) {
  std::unique_ptr<Model> m = loaded(path, load);
  std::string label = m->name;
  return {std::move(label), std::move(m)};
}

}  // namespace nyb
