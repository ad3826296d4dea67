// ollama.h - a model for Ollama: a GGUF and a Modelfile for each type.
#pragma once
#include <string>
#include <vector>
#include "gguf/write.h"
#include "model/source.h"

namespace nyb {

// Throws Error for what Ollama does not take as the name of a model: letters, digits and . _ - in parts between slashes.
void ollama_name_check(const std::string& name);

// Writes NAME-TYPE.gguf and NAME-TYPE.Modelfile into `folder` for each of `types`, the last part of the name in NAME's place, and
// calls `ollama create NAME:TYPE` where there is one, else prints the command. Throws Error, also where that fails.
void ollama_write(const ModelSource& src, const std::string& name, const std::vector<std::string>& types, const std::string& folder,
                  GgufWrite how);

// The text of a Modelfile beside such a GGUF. `note`: what its template does not do.
std::string modelfile(const ModelSource& src, const std::string& gguf_file, std::string& note);

}  // namespace nyb
