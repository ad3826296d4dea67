// verify.cpp - the lines of --verify.
#include "chat/verify.h"
#include <fmt/format.h>
#include "common/app.h"
#include "engine/self_check.h"

namespace nyb {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& w : words) all += (all.empty() ? "" : ", ") + w;
  return all;
}

bool verify_file(const Model& m) {
  const std::vector<std::string> bad = model_verify(m);
  const std::string name = human_words(m.path);
  if (bad.empty())
    out_write(
        fmt::format("file {}: all checksums of {} tensors are right ({})\n", name, m.tensors.size(), human_bytes(m.file_bytes)));
  else
    out_write(fmt::format("file {}: DAMAGED, the checksum of {} is wrong; get or make the file again\n", name, joined(bad)));
  return bad.empty();
}

bool verify_one(Path p, const CheckShapes& shapes) {
  const std::vector<std::string> bad = self_check(kern_table(p), shapes);
  if (bad.empty())
    out_write(fmt::format("path {}: equal to the reference in every byte ({} kernels)\n", path_name(p), kern_list().size()));
  else
    out_write(fmt::format("path {}: DIFFERENT from the reference in {}\n", path_name(p), joined(bad)));
  return bad.empty();
}

}  // namespace

int verify_run(const Runtime& r, const CpuFeatures& cpu) {
  bool good = verify_file(*r.model);
  const CheckShapes shapes = check_shapes(*r.model);
  for (const Path p : kAllPaths) {
    if (p == Path::ref) continue;  // the definition
    if (interrupted()) throw Interrupted{};
    if (const std::string missing = cpu_missing(cpu, p); !missing.empty())
      out_write(fmt::format("path {}: not run, this CPU lacks {}\n", path_name(p), missing));
    else
      good = verify_one(p, shapes) && good;
  }
  return good ? 0 : 1;
}

}  // namespace nyb
