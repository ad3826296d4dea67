// sides.h - one model on both sides: here and in llama.cpp.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "llama.h"
#include "model/ggml_type.h"
#include "model/model.h"
#include "model/source.h"
#include "text/tokenizer.h"

namespace nyb::test {

// The GGUF that the exporter makes of a source, with its tokenizer; a file of this test process.
std::string exported(const ModelSource& src, GgmlType type, const std::string& name);

// All logits of all positions, from an empty cache in f32. [ids][vocab]
std::vector<float> our_logits(const Model& model, const std::vector<int32_t>& ids);

struct Sides {
  std::unique_ptr<Model> model;
  std::unique_ptr<Tokenizer> tok;  // null: the model has none
  std::unique_ptr<Llama> llama;    // null: it does not load, and the test has failed

  std::vector<float> logits(const std::vector<int32_t>& ids) const { return our_logits(*model, ids); }
  // What is most likely after `ids`, `n` times, and the least distance between the best logit and the second on that way.
  std::vector<int32_t> greedy(const std::vector<int32_t>& ids, size_t n, double* margin = nullptr) const;
};

// The model of a GGUF: ours converted as it is (its types kept), theirs as it loads it.
Sides sides_of(const std::string& gguf);
// Of a source exported in f32: ours not by way of the GGUF, so that what is wrong in that is not wrong on both sides.
Sides sides_in_f32(const ModelSource& src, const std::string& name);

// The mean loss of the ids from `first` (1 or more) on, by logits [ids][vocab].
double mean_loss(const std::vector<float>& logits, const std::vector<int32_t>& ids, size_t first);

// How two lists of logits [ids][vocab] differ.
struct Difference {
  double worst = 0;         // of any logit, in parts of its position's largest
  double mean = 0;          // over positions, of the worst of each
  size_t close = 0;         // positions whose margin, on our side, is not above `bound` deviations of its logits
  size_t other_argmax = 0;  // of the others, those whose best is not the same
};
Difference difference(const std::vector<float>& ours, const std::vector<float>& theirs, size_t vocab, double bound);

}  // namespace nyb::test
