// fit.cpp - the arithmetic.
#include "fit/fit.h"
#include <fmt/format.h>
#include <algorithm>
#include "common/app.h"
#include "engine/engine.h"
#include "kern/error.h"

namespace nyb {
namespace {

constexpr uint32_t kUsualContext = 4096;

struct Choice {
  TType type, head;
};
constexpr Choice kChoices[] = {{TType::f32, TType::f32}, {TType::q8, TType::q8}, {TType::q4, TType::q8}, {TType::q4, TType::q4}};

std::string choice_name(const Choice& c) {
  return c.type == c.head ? std::string(ttype_name(c.type)) : fmt::format("{} (head {})", ttype_name(c.type), ttype_name(c.head));
}

}  // namespace

Fit fit_of(const ModelOutline& m, uint32_t ctx, KvType kv, unsigned threads, const MemoryLeft& left, double bandwidth) {
  if (ctx > m.shape.ctx)
    throw Error(
        fmt::format("a context of {} is more than the {} of {}; give --ctx {} or less", ctx, m.shape.ctx, m.name, m.shape.ctx));
  Fit f;
  f.model = m;
  f.ctx = ctx ? ctx : std::min(m.shape.ctx, kUsualContext);
  f.kv = kv;
  f.threads = threads;
  f.left = left;
  f.bandwidth = bandwidth;
  f.kv_per_position = kv_bytes_per_position(m.shape, kv);
  for (const uint32_t c : {2048u, 4096u, 8192u, 32768u, 131072u})
    if (c <= m.shape.ctx) f.contexts.push_back(c);
  f.contexts.push_back(f.ctx);
  std::sort(f.contexts.begin(), f.contexts.end());
  f.contexts.erase(std::unique(f.contexts.begin(), f.contexts.end()), f.contexts.end());
  for (const uint32_t d : {0u, 4096u, 32768u})
    if (d < m.shape.ctx) f.depths.push_back(d);
  EngOptions o;
  o.ctx = f.ctx;
  o.kv = kv;
  const uint64_t working = eng_work_bytes(m.shape, o, threads);
  const auto add = [&](const std::string& name, const ModelCost& cost) {
    FitRow r{name, cost.weights, f.ctx * f.kv_per_position, working, false, cost.read_per_token, {}};
    r.fits = r.total() <= left.bytes;
    for (const uint32_t d : f.depths) {
      r.ceilings.push_back(bandwidth * 1e9 / static_cast<double>(cost.read_per_token + kv_read_bytes(m.shape, kv, d)));
    }
    f.rows.push_back(std::move(r));
  };
  if (m.cost) add(m.fixed ? m.type_name : "keep: " + m.type_name, *m.cost);
  if (m.fixed) return f;
  for (const Choice& c : kChoices) add(choice_name(c), model_cost(m.shape, m.tied, c.type, c.head));
  return f;
}

}  // namespace nyb
