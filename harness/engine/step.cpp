// step.cpp - a layer, stage by stage; every stage is one par_for (attention's may need another for its quantizing), and between two
// of them nothing is computed.
#include "engine/step.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "kern/error.h"

namespace nyb {

void EngStep::Fault::mark(size_t token) {
  size_t seen = token_.load(std::memory_order_relaxed);
  while (token < seen && !token_.compare_exchange_weak(seen, token, std::memory_order_relaxed)) {}
}

void EngStep::fail(const char* what, size_t token) const {
  const std::string where = layer_ < m.shape.layers ? fmt::format("layer {}", layer_) : "after the last layer";
  throw Error(fmt::format("{}: {} (position {}): the model's weights are damaged or too large", where, what, pos_ + token));
}

void EngStep::check_cancel() const {
  if (m.opt.cancel && m.opt.cancel->load(std::memory_order_relaxed)) throw Cancelled{};
}

MatIn EngStep::input(Rows<float>& values, Rows<QxGroup>& groups) {
  return {values[0], values.stride(), groups[0], groups.stride()};
}

// Makes a vector ready for products: quantized where a matrix takes groups. Checks it either way.
bool EngStep::prepare(const float* values, QxGroup* out, size_t n, bool groups) const {
  if (groups) return kern().qx_vec(values, out, n) == 0;
  float ignored;
  return kern().vec_max(values, &ignored, n) == 0;
}

void EngStep::normalize(const Tensor& weight, size_t first, size_t count, bool groups, const char* where) {
  Fault sum, value;
  par_for(m.pool, count, 1, [&](size_t b, size_t e, unsigned) {
    for (size_t t = b + first; t < e + first; t++) {
      if (kern().rmsnorm(m.x[t], weight.vec(), m.norm[t], m.shape.dim, m.shape.norm_eps) != 0)
        sum.mark(t);
      else if (!prepare(m.norm[t], m.groups[t], m.shape.dim, groups))
        value.mark(t);
    }
  });
  if (sum.any()) fail(fmt::format("the sum of squares of {} is not finite", where).c_str(), sum.token());
  if (value.any()) fail(fmt::format("a value of {} is not finite", where).c_str(), value.token());
}

// Where attention's stage could not: a group belongs to heads of two tiles.
void EngStep::quantize_attention(bool groups) {
  Fault fault;
  par_for(m.pool, tokens_, 1, [&](size_t b, size_t e, unsigned) {
    for (size_t t = b; t < e; t++)
      if (!prepare(m.att[t], m.wide[t], size_t{m.shape.heads} * m.shape.head_dim, groups)) fault.mark(t);
  });
  if (fault.any()) fail("a value of attention's output is not finite", fault.token());
}

// y += bias in rows row..end-1 of all tokens, where there is one; end may reach into the padding of the last panel.
void EngStep::add_bias(const Tensor* bias, Rows<float>& y, size_t row, size_t end) {
  if (!bias) return;
  const size_t n = std::min<size_t>(end, bias->cols) - row;
  for (size_t t = 0; t < tokens_; t++) kern().vec_add(y[t] + row, bias->vec() + row, y[t] + row, n);
}

// x += w * in + bias, through m.norm, which is free by now.
void EngStep::add_product(const PanelSplit& split, const Tensor& w, const Tensor* bias, const MatIn& in) {
  split.run([&](size_t b, size_t e, unsigned) {
    const size_t row = b * kPanelRows, rows = (e - b) * kPanelRows;
    mat_panels(kern(), w, b, e, in, tokens_, m.norm[0] + row, m.norm.stride());
    add_bias(bias, m.norm, row, row + rows);
    for (size_t t = 0; t < tokens_; t++) kern().vec_add(m.x[t] + row, m.norm[t] + row, m.x[t] + row, rows);
  });
}

void EngStep::soon_qkv(size_t layer) {
  const LayerTensors& t = m.model.layers[layer];
  m.split.qkv.soon_one_after_the_other({t.q, t.k, t.v});
}

// The panels of q, k and v one after the other, as they lie in the file.
void EngStep::qkv(const LayerTensors& layer) {
  struct Part {
    const Tensor& w;
    const Tensor* bias;
    Rows<float>& y;
  } const parts[] = {{*layer.q, layer.q_bias, m.q}, {*layer.k, layer.k_bias, m.k}, {*layer.v, layer.v_bias, m.v}};
  const MatIn in = input(m.norm, m.groups);
  m.split.qkv.run([&](size_t b, size_t e, unsigned) {
    size_t first = 0;  // panel of this part, counted over all three
    for (const Part& p : parts) {
      const size_t n = panels_of(p.w.rows), from = std::max(b, first), to = std::min(e, first + n);
      if (from < to) {
        const size_t row = (from - first) * kPanelRows;
        mat_panels(kern(), p.w, from - first, to - first, in, tokens_, p.y[0] + row, p.y.stride());
        add_bias(p.bias, p.y, row, (to - first) * kPanelRows);
      }
      first += n;
    }
  });
}

// Each head by itself, in place; nothing where there is no weight. False: a sum is not finite.
bool EngStep::norm_heads(const Tensor* weight, float* heads, size_t count) const {
  const size_t dim = m.shape.head_dim;
  for (size_t h = 0; weight && h < count; h++)
    if (kern().rmsnorm(heads + h * dim, weight->vec(), heads + h * dim, dim, m.shape.norm_eps) != 0) return false;
  return true;
}

void EngStep::rope_and_store(size_t layer) {
  const LayerTensors& tensors = m.model.layers[layer];
  const size_t dim = m.shape.head_dim, half = m.shape.turns(layer) ? m.rope.half() : 0;
  Fault sum, fault;
  par_for(m.pool, tokens_, 1, [&](size_t b, size_t e, unsigned thread) {
    for (size_t t = b; t < e; t++) {
      const size_t pos = pos_ + t;
      if (!norm_heads(tensors.q_norm, m.q[t], m.shape.heads) || !norm_heads(tensors.k_norm, m.k[t], m.shape.kv_heads)) {
        sum.mark(t);
        continue;
      }
      if (half > 0) {
        kern().rope(m.q[t], m.rope.cos(pos), m.rope.sin(pos), half, dim, m.shape.heads);
        kern().rope(m.k[t], m.rope.cos(pos), m.rope.sin(pos), half, dim, m.shape.kv_heads);
      }
      if (!m.cache.store(kern(), layer, pos, m.k[t], m.v[t], m.attn.scratch[thread].queries[0].data())) fault.mark(t);
    }
  });
  if (sum.any()) fail("the sum of squares of a query's or key's head is not finite", sum.token());
  if (fault.any() && m.cache.type() == KvType::q8) fail("a key or value is not finite", fault.token());
  if (fault.any())
    throw Error(fmt::format("layer {}: a key/value does not fit f16 (position {}): use --kv f32", layer, pos_ + fault.token()));
}

void EngStep::attention(size_t layer) {
  const LayerTensors& t = m.model.layers[layer];
  normalize(*t.attn_norm, 0, tokens_, takes_groups(t.q->type) || takes_groups(t.k->type) || takes_groups(t.v->type),
            "the attention norm");
  lap(Stage::norm);
  m.split.o.soon_one_after_the_other({t.o});
  qkv(t);
  lap(Stage::qkv);
  rope_and_store(layer);
  lap(Stage::rope);
  const bool groups = takes_groups(t.o->type), ready = attend_all(layer, groups);
  lap(Stage::attend);
  if (!ready) quantize_attention(groups);
  lap(Stage::norm);
  m.split.gate_up.soon_side_by_side(*t.gate, *t.up);
  add_product(m.split.o, *t.o, t.o_bias, input(m.att, m.wide));
  lap(Stage::o);
}

void EngStep::feed_forward(size_t layer) {
  const LayerTensors& t = m.model.layers[layer];
  normalize(*t.ffn_norm, 0, tokens_, takes_groups(t.gate->type) || takes_groups(t.up->type), "the feed-forward norm");
  lap(Stage::norm);
  const MatIn in = input(m.norm, m.groups);
  const bool groups = takes_groups(t.down->type);
  Fault fault;
  m.split.down.soon_one_after_the_other({t.down});
  // Two panels make a group of activations, so whoever has computed them quantizes them.
  m.split.gate_up.run([&](size_t b, size_t e, unsigned) {
    const size_t row = b * kPanelRows, rows = (e - b) * kPanelRows;
    mat_panels(kern(), *t.gate, b, e, in, tokens_, m.gate[0] + row, m.gate.stride());
    mat_panels(kern(), *t.up, b, e, in, tokens_, m.up[0] + row, m.up.stride());
    for (size_t i = 0; i < tokens_; i++) {
      kern().swiglu(m.gate[i] + row, m.up[i] + row, m.gate[i] + row, rows);
      if (!prepare(m.gate[i] + row, m.wide[i] + row / kGroup, std::min<size_t>(rows, m.shape.ffn - row), groups)) fault.mark(i);
    }
  });
  lap(Stage::gate_up);
  if (fault.any()) fail("a value of the feed-forward activations is not finite", fault.token());
  if (layer + 1 < m.shape.layers)
    soon_qkv(layer + 1);
  else
    m.split.head.soon_one_after_the_other({m.model.head});
  add_product(m.split.down, *t.down, nullptr, input(m.gate, m.wide));
  lap(Stage::down);
}

void EngStep::chunk(std::span<const int32_t> ids, size_t pos) {
  tokens_ = ids.size();
  pos_ = pos;
  if (m.opt.clock) m.opt.clock->start();
  par_for(m.pool, tokens_, 1, [&](size_t b, size_t e, unsigned) {
    for (size_t t = b; t < e; t++) tensor_row(*m.model.embed, static_cast<uint64_t>(ids[t]), m.x[t]);
  });
  lap(Stage::embed);
  for (layer_ = 0; layer_ < m.shape.layers; layer_++) {
    check_cancel();
    attention(layer_);
    feed_forward(layer_);
  }
}

void EngStep::logits(size_t first, size_t count, std::span<float> out) {
  const Tensor& head = *m.model.head;
  const size_t vocab = m.shape.vocab, whole = vocab / kPanelRows;
  normalize(*m.model.out_norm, first, count, takes_groups(head.type), "the last norm");
  lap(Stage::norm);
  const MatIn in{m.norm[first], m.norm.stride(), m.groups[first], m.groups.stride()};
  Fault fault;
  soon_qkv(0);
  m.split.head.run([&](size_t b, size_t e, unsigned) {
    // Straight into the caller's memory, but for the rows that pad the last panel: there is no room for them there.
    if (b < whole) mat_panels(kern(), head, b, std::min(e, whole), in, count, out.data() + b * kPanelRows, vocab);
    for (size_t t = 0; t < count && e > whole; t++) {
      float last[kPanelRows];
      const MatIn one{in.values + t * in.values_stride, 0, in.groups + t * in.groups_stride, 0};
      mat_panels(kern(), head, whole, whole + 1, one, 1, last, kPanelRows);
      std::memcpy(out.data() + t * vocab + whole * kPanelRows, last, vocab % kPanelRows * sizeof(float));
    }
    const size_t row = b * kPanelRows, rows = std::min(e * kPanelRows, vocab) - row;
    float ignored;
    for (size_t t = 0; t < count; t++)
      if (kern().vec_max(out.data() + t * vocab + row, &ignored, rows) != 0) fault.mark(first + t);
  });
  lap(Stage::head);
  if (fault.any()) fail("a logit is not finite", fault.token());
}

}  // namespace nyb
