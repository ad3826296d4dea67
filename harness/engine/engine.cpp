// engine.cpp - an engine's memory, and a step cut into chunks.
#include "engine/engine.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/engine_impl.h"
#include "engine/step.h"
#include "kern/error.h"
#include "kern/mxcsr.h"
#include "kern/splitmix.h"

namespace nyb {
namespace {

EngOptions checked(const ModelShape& shape, EngOptions o) {
  if (o.ctx == 0) o.ctx = shape.ctx;
  if (o.ctx > shape.ctx)
    throw Error(
        fmt::format("a context of {} positions is more than this model's {}: give --ctx {} or less", o.ctx, shape.ctx, shape.ctx));
  o.chunk = std::clamp(o.chunk, 1u, o.ctx);
  return o;
}

size_t panel_rows(size_t rows) { return panels_of(rows) * kPanelRows; }

}  // namespace

Engine::Impl::Impl(const Model& m, const KernTable& kt, Pool& p, const EngOptions& o)
    : model(m),
      shape(m.shape),
      kern(kt),
      narrow(narrow_table(kt)),
      pool(p),
      opt(checked(m.shape, o)),
      cache(shape, opt.ctx, opt.kv),
      rope(shape, opt.ctx),
      x(opt.chunk, panel_rows(shape.dim)),
      norm(opt.chunk, panel_rows(shape.dim)),
      q(opt.chunk, panel_rows(size_t{shape.heads} * shape.head_dim)),
      k(opt.chunk, panel_rows(size_t{shape.kv_heads} * shape.head_dim)),
      v(opt.chunk, panel_rows(size_t{shape.kv_heads} * shape.head_dim)),
      att(opt.chunk, panel_rows(size_t{shape.heads} * shape.head_dim)),
      gate(opt.chunk, panel_rows(shape.ffn)),
      up(opt.chunk, panel_rows(shape.ffn)),
      groups(opt.chunk, groups_of(shape.dim)),
      wide(opt.chunk, groups_of(std::max(size_t{shape.heads} * shape.head_dim, size_t{shape.ffn}))),
      attn(shape, opt.ctx, opt.kv, pool.threads()),
      split(p, m.shape, kern.panels_together()) {}

Engine::Impl::Splits::Splits(Pool& pool, const ModelShape& s, size_t together)
    : qkv(pool, panels_of(size_t{s.heads} * s.head_dim) + 2 * panels_of(size_t{s.kv_heads} * s.head_dim), together),
      o(pool, panels_of(s.dim), together),
      gate_up(pool, panels_of(s.ffn), together),
      down(pool, panels_of(s.dim), together),
      head(pool, panels_of(s.vocab), together) {}

size_t Engine::Impl::work_bytes() const {
  return rope.bytes() + x.bytes() + norm.bytes() + q.bytes() + k.bytes() + v.bytes() + att.bytes() + gate.bytes() + up.bytes() +
         groups.bytes() + wide.bytes() + attn.bytes();
}

Engine::Engine(const Model& model, const KernTable& kern, Pool& pool, const EngOptions& opt)
    : impl_(std::make_unique<Impl>(model, kern, pool, opt)) {}
Engine::~Engine() = default;

const Model& Engine::model() const { return impl_->model; }
const KernTable& Engine::kern() const { return impl_->kern; }
const KernTable& Engine::narrow() const { return impl_->narrow; }
uint32_t Engine::ctx() const { return impl_->opt.ctx; }
KvType Engine::kv() const { return impl_->opt.kv; }
size_t Engine::kv_bytes() const { return impl_->cache.bytes(); }
size_t Engine::work_bytes() const { return impl_->work_bytes(); }
uint32_t Engine::filled() const { return impl_->filled; }

void eng_step(Engine& e, std::span<const int32_t> ids, uint32_t pos, std::span<float> logits) {
  const MxcsrScope scope;
  Engine::Impl& m = *e.impl_;
  const size_t n = ids.size(), vocab = m.shape.vocab;
  if (pos > m.filled) throw Error(fmt::format("position {} does not follow the {} that the cache holds", pos, m.filled));
  m.filled = pos;  // and so it stays if anything below throws
  if (n > m.opt.ctx - pos)
    throw Error(
        fmt::format("{} tokens after {} positions make {}, but the context holds {}: shorten the text or give a larger --ctx", n,
                    pos, n + pos, m.opt.ctx));
  for (size_t i = 0; i < n; i++)
    if (ids[i] < 0 || static_cast<size_t>(ids[i]) >= vocab)
      throw Error(fmt::format("token id {} at position {} is outside the vocabulary of {}", ids[i], pos + i, vocab));
  const bool every = n > 1 && logits.size() == n * vocab;
  if (!logits.empty() && !every && (n == 0 || logits.size() != vocab))
    throw Error(fmt::format("room for {} logits is neither one position's {} nor all {}", logits.size(), vocab, n * vocab));

  m.rope.extend(pos + n);
  EngStep step{m};
  for (size_t done = 0; done < n;) {
    const size_t tokens = std::min<size_t>(m.opt.chunk, n - done);
    step.chunk(ids.subspan(done, tokens), pos + done);
    if (every)
      step.logits(0, tokens, logits.subspan(done * vocab, tokens * vocab));
    else if (!logits.empty() && done + tokens == n)
      step.logits(tokens - 1, 1, logits);
    done += tokens;
  }
  m.filled = static_cast<uint32_t>(pos + n);
}

size_t eng_work_bytes(const ModelShape& s, const EngOptions& o, unsigned threads) {
  const EngOptions opt = checked(s, o);
  const size_t queries = size_t{s.heads} * s.head_dim;
  size_t floats = 0;
  for (const size_t rows : {size_t{s.dim}, queries, size_t{s.kv_heads} * s.head_dim, size_t{s.ffn}})
    floats += 2 * row_stride<float>(panel_rows(rows));
  const size_t row = floats * sizeof(float) + (groups_of(s.dim) + groups_of(std::max(queries, size_t{s.ffn}))) * sizeof(QxGroup);
  const size_t half = s.rope_freqs.empty() ? s.head_dim / 2 : s.rope_freqs.size();
  const size_t rope = 2 * sizeof(float) * opt.ctx * half;
  return opt.chunk * row + rope + AttnWork::bytes_for(s, opt.ctx, opt.kv, threads);
}

void eng_fill(Engine& e, uint32_t positions) {
  const MxcsrScope scope;
  Engine::Impl& m = *e.impl_;
  if (positions > m.opt.ctx) throw Error(fmt::format("{} positions do not fit into a context of {}", positions, m.opt.ctx));
  const size_t width = size_t{m.shape.kv_heads} * m.shape.head_dim;
  std::vector<float> values(width + m.shape.head_dim);
  uint64_t state = 1;
  for (float& v : values) v = splitmix_unit(state);
  for (size_t layer = 0; layer < m.shape.layers; layer++)
    for (size_t pos = 0; pos < positions; pos++) {
      const float* from = values.data() + (pos * 7 + layer) % m.shape.head_dim;  // not the same everywhere
      m.cache.store(m.kern, layer, pos, from, from, m.attn.scratch[0].queries[0].data());
    }
  m.filled = positions;
}

uint64_t bytes_per_token(const Model& m) { return m.weight_bytes - (m.head != m.embed && m.embed ? m.embed->bytes : 0); }

}  // namespace nyb
