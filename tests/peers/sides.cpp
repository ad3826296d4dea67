#include "sides.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "engine/engine.h"
#include "engine/logprob.h"
#include "kern/cpu.h"
#include "model/convert.h"
#include "model/gguf.h"
#include "model/gguf_export.h"
#include "support/data.h"
#include "text/export_gguf.h"

namespace nyb::test {
namespace {

size_t best(const float* row, size_t n) { return static_cast<size_t>(std::max_element(row, row + n) - row); }

// Between the best and the second.
double margin_of(const float* row, size_t n) {
  const size_t b = best(row, n);
  float second = -HUGE_VALF;
  for (size_t i = 0; i < n; i++)
    if (i != b) second = std::max(second, row[i]);
  return static_cast<double>(row[b]) - static_cast<double>(second);
}

double deviation(const float* row, size_t n) {
  double sum = 0, squares = 0;
  for (size_t i = 0; i < n; i++) {
    sum += static_cast<double>(row[i]);
    squares += static_cast<double>(row[i]) * static_cast<double>(row[i]);
  }
  const double mean = sum / static_cast<double>(n);
  return std::sqrt(squares / static_cast<double>(n) - mean * mean);
}

Sides sides(const ModelSource& src, std::optional<TType> type, const std::string& gguf) {
  ConvertOptions o;
  o.type = o.head = type;
  const std::string mnm = (tmp_dir() / (std::filesystem::path(gguf).stem().string() + ".mnm")).string();
  convert(src, mnm, o);
  Sides s;
  s.model = eng_load(mnm);
  s.tok = Tokenizer::from_meta(s.model->meta);
  s.llama = Llama::open(gguf);
  return s;
}

}  // namespace

std::string exported(const ModelSource& src, GgmlType type, const std::string& name) {
  const std::string out = (tmp_dir() / (name + "-" + std::string(ggml_block(type).name) + ".gguf")).string();
  GgufKeys keys;
  std::vector<std::string> notes;
  tok_export_gguf(src.meta, keys, notes);
  ExportOptions o;
  o.type = o.head = type;
  gguf_export(src, keys, out, o);
  return out;
}

Sides sides_of(const std::string& gguf) {
  ModelSource src = gguf_open(gguf);
  tok_import_gguf(Gguf(gguf), src.shape.vocab, src.meta);
  return sides(src, std::nullopt, gguf);
}

Sides sides_in_f32(const ModelSource& src, const std::string& name) {
  return sides(src, TType::f32, exported(src, GgmlType::f32, name));
}

std::vector<float> our_logits(const Model& model, const std::vector<int32_t>& ids) {
  Pool pool(1);
  Engine e(model, kern_pick(cpu_here()).table, pool);
  std::vector<float> out(ids.size() * model.shape.vocab);
  eng_step(e, ids, 0, out);
  return out;
}

std::vector<int32_t> Sides::greedy(const std::vector<int32_t>& ids, size_t n, double* margin) const {
  Pool pool(1);
  Engine e(*model, kern_pick(cpu_here()).table, pool);
  const size_t vocab = model->shape.vocab;
  std::vector<int32_t> out, next = ids;
  double least = HUGE_VAL;
  for (uint32_t at = 0; out.size() < n; at += static_cast<uint32_t>(next.size()), next.assign(1, out.back())) {
    std::vector<float> logits(next.size() * vocab);
    eng_step(e, next, at, logits);
    const float* last = logits.data() + logits.size() - vocab;
    least = std::min(least, margin_of(last, vocab));
    out.push_back(static_cast<int32_t>(best(last, vocab)));
  }
  if (margin) *margin = least;
  return out;
}

double mean_loss(const std::vector<float>& logits, const std::vector<int32_t>& ids, size_t first) {
  const size_t vocab = logits.size() / ids.size();
  double sum = 0;
  for (size_t i = first; i < ids.size(); i++) sum -= logprob_of(std::span(logits).subspan((i - 1) * vocab, vocab), ids[i]).value;
  return sum / static_cast<double>(ids.size() - first);
}

Difference difference(const std::vector<float>& ours, const std::vector<float>& theirs, size_t vocab, double bound) {
  Difference d;
  const size_t n = ours.size() / vocab;
  for (size_t t = 0; t < n; t++) {
    const float *a = ours.data() + t * vocab, *b = theirs.data() + t * vocab;
    double largest = 0, off = 0;
    for (size_t i = 0; i < vocab; i++) {
      largest = std::max(largest, std::abs(static_cast<double>(a[i])));
      off = std::max(off, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
    }
    d.worst = std::max(d.worst, off / largest);
    d.mean += off / largest / static_cast<double>(n);
    if (margin_of(a, vocab) <= bound * deviation(a, vocab))
      d.close++;
    else
      d.other_argmax += best(a, vocab) != best(b, vocab);
  }
  return d;
}

}  // namespace nyb::test
