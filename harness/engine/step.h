// step.h - the forward pass of one chunk of tokens. For the engine's own files only.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/engine_impl.h"
#include "engine/matvec.h"
#include "engine/stage_clock.h"

namespace nyb {

struct EngStep {
  explicit EngStep(Engine::Impl& impl) : m(impl) {}

  // All layers for the tokens at positions pos, pos + 1, ...; the residual stream stays in m.x. Throws Error or Cancelled.
  void chunk(std::span<const int32_t> ids, size_t pos);
  // Logits of `count` tokens of the last chunk from its `first` on, [count][vocab]. Throws Error.
  void logits(size_t first, size_t count, std::span<float> out);

 private:
  // The first token at which something went wrong, whichever thread found it.
  class Fault {
   public:
    void mark(size_t token);
    bool any() const { return token() != SIZE_MAX; }
    size_t token() const { return token_.load(std::memory_order_relaxed); }

   private:
    std::atomic<size_t> token_{SIZE_MAX};
  };

  void attention(size_t layer);
  void feed_forward(size_t layer);
  void soon_qkv(size_t layer);
  void qkv(const LayerTensors& t);
  void rope_and_store(size_t layer);
  AttnView view_of(size_t layer, const AttnTile& tile) const;
  bool attend_all(size_t layer, bool groups);
  void normalize(const Tensor& weight, size_t first, size_t count, bool groups, const char* where);
  void quantize_attention(bool groups);
  void add_product(const PanelSplit& split, const Tensor& w, const Tensor* bias, const MatIn& in);
  void add_bias(const Tensor* bias, Rows<float>& y, size_t row, size_t end);
  bool norm_heads(const Tensor* weight, float* heads, size_t count) const;
  bool prepare(const float* values, QxGroup* out, size_t n, bool groups) const;
  MatIn input(Rows<float>& values, Rows<QxGroup>& groups);
  [[noreturn]] void fail(const char* what, size_t token) const;
  void check_cancel() const;
  const KernTable& kern() const { return tokens_ == 1 && pos_ < kNarrowPositions ? m.narrow : m.kern; }
  void lap(Stage s) const {
    if (m.opt.clock) m.opt.clock->lap(s);
  }

  Engine::Impl& m;
  size_t tokens_ = 0, pos_ = 0;  // of the chunk
  size_t layer_ = 0;             // at hand; layers: past the last
};

}  // namespace nyb
