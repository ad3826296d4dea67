// kept_shape.cpp - a file by the name of what is in it.
#include "kept_shape.h"
#include <fmt/format.h>
#include <filesystem>
#include "common/app.h"
#include "kern/error.h"
#include "model/format.h"
#include "model/look.h"
#include "model/random_model.h"

namespace nyb {
namespace {
namespace fs = std::filesystem;

// What is wrong with it; empty: nothing.
std::string fault_of(const Model& m, const NamedShape& shape, TType type) {
  if (shape_fields(m.shape) != shape_fields(shape.shape()) || m.type_name != ttype_name(type)) return "it is another model";
  const std::vector<std::string> bad = model_verify(m);
  return bad.empty() ? "" : bad.front();
}

// What other versions of the program left.
void remove_others(const fs::path& kept, const std::string& stem) {
  std::error_code ec;
  for (const fs::directory_entry& e : fs::directory_iterator(kept.parent_path(), ec))
    if (const std::string name = e.path().filename().string();
        name.starts_with(stem + ".") && name.ends_with(".mnm") && e.path() != kept)
      fs::remove(e.path(), ec);
}

}  // namespace

std::unique_ptr<Model> kept_shape(const std::string& folder, const NamedShape& shape, TType type,
                                  const std::function<std::unique_ptr<Model>(const std::string& path)>& load,
                                  const std::function<void(uint64_t done, uint64_t total)>& progress) {
  const std::string stem = fmt::format("{}-{}", shape.name, ttype_name(type));
  const std::string path = fmt::format("{}/{}.v{}.{}.mnm", folder, stem, kFormatVersion, kRandomModelRevision);
  if (file_there(path)) {
    std::string fault;
    try {
      std::unique_ptr<Model> m = load(path);
      fault = fault_of(*m, shape, type);
      if (fault.empty()) return m;
    } catch (const Error& e) { fault = e.what(); }
    say(fmt::format("the weights kept in '{}' are of no use ({}): they are made anew", path, fault));
  }
  remove_others(path, stem);
  random_model(path, shape, type, type, progress);
  return load(path);
}

}  // namespace nyb
