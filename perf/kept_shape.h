// kept_shape.h - random weights of large shapes, made once and kept for the next time.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include "model/model.h"
#include "model/shapes.h"

namespace nyb {

// The model of this shape that lies in `folder`, read through and checked; made there where there is none. Its name holds the
// versions of the file format and of the recipe (random_model.h), and those of other versions are removed. One that is damaged, or
// is not of this shape, is made anew, which is said on stderr. `load` opens a file, `progress` is random_model's. Throws Error.
std::unique_ptr<Model> kept_shape(const std::string& folder, const NamedShape& shape, TType type,
                                  const std::function<std::unique_ptr<Model>(const std::string& path)>& load,
                                  const std::function<void(uint64_t done, uint64_t total)>& progress);

}  // namespace nyb
