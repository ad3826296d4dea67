// load.h - a model file into memory, as --load wants it.
#pragma once
#include <memory>
#include <string>
#include "chat/options.h"
#include "model/model.h"

namespace nyb {

// Mapped, or with --load huge read into memory in huge pages: with a progress bar, and a note on what came of it (o.quiet:
// neither). Throws Error, also where the memory left would not hold the copy; Interrupted.
std::unique_ptr<Model> load_model(const ChatOptions& o, const std::string& path);

}  // namespace nyb
