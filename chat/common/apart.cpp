#include "common/apart.h"
#include <filesystem>
#include "kern/error.h"
#include "model/look.h"

namespace nyb {
namespace fs = std::filesystem;

void output_apart(const std::string& part, const std::string& out) {
  std::error_code ec;
  if (fs::equivalent(part, out, ec)) throw Error(out + ": this is a part of the model to convert; give the output another name");
}

void output_apart_from_folder(const std::string& in, const std::string& out, std::string_view earlier) {
  std::error_code ec;
  if (file_look(in) != fs::file_type::directory || !fs::exists(out, ec)) return;
  for (const fs::directory_entry& e : fs::directory_iterator(in))
    if (e.path().extension() != earlier) output_apart(e.path().string(), out);
}

void output_apart(const ModelSource& src, const std::string& out) {
  for (const MappedFile& f : src.files) output_apart(f.path(), out);
}

}  // namespace nyb
