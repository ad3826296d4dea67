// verify.cpp - the lines of --verify.
#include "chat/verify.h"
#include <fmt/format.h>
#include <algorithm>
#include "common/app.h"
#include "kern/mxcsr.h"

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

bool verify_one(Path p, const VerifyShapes& shapes) {
  const MxcsrScope float_rules;  // as the engine runs them
  const std::vector<std::string> bad = verify_path(kern_table(Path::ref), kern_table(p), shapes);
  if (bad.empty())
    out_write(fmt::format("path {}: equal to the reference in every byte ({} kernels)\n", path_name(p), kern_list().size()));
  else
    out_write(fmt::format("path {}: DIFFERENT from the reference in {}\n", path_name(p), joined(bad)));
  return bad.empty();
}

template <class T>
void add_once(std::vector<T>& all, const T& one) {
  if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
}

}  // namespace

VerifyShapes verify_shapes(const Model& m) {
  VerifyShapes s;
  for (const Tensor& t : m.tensors)
    if (t.type != TType::vec) add_once(s.matrices, {t.type, t.rows, t.cols});
  const ModelShape& shape = m.shape;
  for (const uint64_t n : {uint64_t{shape.dim}, uint64_t{shape.ffn}, uint64_t{shape.heads} * shape.head_dim, uint64_t{shape.vocab}})
    add_once(s.lengths, n);
  s.heads = shape.heads;
  s.head_dim = shape.head_dim;
  s.rope_half = shape.rope_freqs.size();
  s.eps = shape.norm_eps;
  s.attn_scale = shape.attn_scale;
  return s;
}

int verify_run(const Runtime& r, const CpuFeatures& cpu) {
  bool good = verify_file(*r.model);
  const VerifyShapes shapes = verify_shapes(*r.model);
  for (const Path p : all_paths) {
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
