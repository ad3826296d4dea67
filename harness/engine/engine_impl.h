// engine_impl.h - what an engine owns. For the engine's own files only.
#pragma once
#include <vector>

#include "engine/attention.h"
#include "engine/buffer.h"
#include "engine/engine.h"
#include "engine/panel_split.h"
#include "engine/rope_table.h"

namespace nyb {

// An array of one row a token. Rows of floats begin on 64 bytes.
template <class T>
class Rows {
 public:
  Rows(size_t tokens, size_t width) : stride_(row_stride<T>(width)), data_("the engine's working memory", {tokens, stride_}) {}
  T* operator[](size_t token) { return data_.at(token * stride_); }
  size_t stride() const { return stride_; }
  size_t bytes() const { return data_.bytes(); }

 private:
  size_t stride_;
  Buffer<T> data_;
};

struct Engine::Impl {
  Impl(const Model& m, const KernTable& k, Pool& p, const EngOptions& o);

  const Model& model;
  const ModelShape& shape;
  const KernTable kern, narrow;
  Pool& pool;
  EngOptions opt;  // ctx and chunk as they came out
  uint32_t filled = 0;

  KvCache cache;
  RopeTable rope;
  // One row a token of the chunk. Products write whole panels, so rows are as wide as their panels.
  Rows<float> x;         // the residual stream
  Rows<float> norm;      // normalized; also what o and down give before it is added to x
  Rows<float> q, k, v;   // [heads or kv_heads][head_dim]
  Rows<float> att;       // attention's output
  Rows<float> gate, up;  // gate becomes the feed-forward activations
  Rows<QxGroup> groups;  // norm, quantized
  Rows<QxGroup> wide;    // att or gate, quantized
  AttnWork attn;
  // the products' stages
  struct Splits {
    Splits(Pool& pool, const ModelShape& s, size_t together);
    PanelSplit qkv, o, gate_up, down, head;
  } split;

  size_t work_bytes() const;
};

}  // namespace nyb
