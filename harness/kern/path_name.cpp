// path_name.cpp - the names that people type and read.
#include "kern/kern.h"

namespace nyb {

std::string_view path_name(Path p) {
  switch (p) {
    case Path::ref: break;
    case Path::avx2: return "avx2";
    case Path::vnni: return "vnni";
    case Path::vnni8: return "vnni8";
    case Path::avx512: return "avx512";
  }
  return "ref";
}

std::optional<Path> path_parse(std::string_view name) {
  for (const Path p : kAllPaths)
    if (name == path_name(p)) return p;
  return std::nullopt;
}

std::string path_names() {
  std::string all;
  for (const Path p : kAllPaths) {
    if (!all.empty()) all += ", ";
    all += path_name(p);
  }
  return all;
}

}  // namespace nyb
