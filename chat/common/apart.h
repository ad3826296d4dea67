// apart.h - an output that is none of the inputs.
#pragma once
#include <string>
#include <string_view>
#include "model/source.h"

namespace nyb {

// Throw Error where the output is a part of the model that is read, by whatever name: either side may be a link to the other. Of a
// folder, before it is read: anything in it, but for files that end in `earlier`, which such a program wrote.
void output_apart(const std::string& part, const std::string& out);
void output_apart_from_folder(const std::string& in, const std::string& out, std::string_view earlier);
void output_apart(const ModelSource& src, const std::string& out);

}  // namespace nyb
