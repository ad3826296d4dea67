// fit.cpp - the arithmetic.
#include "fit/fit.h"
#include <fmt/format.h>
#include <algorithm>
#include <optional>
#include "common/app.h"
#include "engine/engine.h"
#include "kern/error.h"
#include "model/format.h"

namespace nyb {
namespace {

constexpr uint32_t kUsualContext = 4096;
constexpr uint32_t kDepths[] = {0, 4096, 32768};

struct Choice {
  TType type, head;
};
constexpr Choice kChoices[] = {{TType::f32, TType::f32}, {TType::q8, TType::q8}, {TType::q4, TType::q8}, {TType::q4, TType::q4}};
// What quantize keeps of f16 and bf16, and of the usual GGUF files.
constexpr Choice kKept[] = {{TType::q80, TType::q80}, {TType::q4k, TType::q6k}, {TType::q6k, TType::q6k}};

std::string choice_name(const Choice& c) {
  return c.type == c.head ? std::string(ttype_name(c.type)) : fmt::format("{} (head {})", ttype_name(c.type), ttype_name(c.head));
}

// Columns of a matrix that are no whole blocks of such types; nothing: all are.
std::optional<uint64_t> odd_columns(const ModelShape& shape, bool tied, const Choice& c) {
  for (const TensorSlot& t : model_slots(shape, tied))
    if (t.matrix && (t.cols % block_cols(c.type) != 0 || t.cols % block_cols(c.head) != 0)) return t.cols;
  return std::nullopt;
}

void add_depths(Fit& f) {
  const uint32_t ctx = f.model.shape.ctx;
  for (const uint32_t d : kDepths) {
    if (d < ctx)
      f.depths.push_back(d);
    else if (f.depths.back() != ctx - 1)
      f.depths.push_back(ctx - 1);
    if (d > ctx) f.beyond.push_back(d);
  }
}

}  // namespace

Fit fit_of(const ModelOutline& m, const FitPlan& plan, const MemoryLeft& left) {
  if (plan.ctx > m.shape.ctx)
    throw Error(fmt::format("a context of {} is more than the {} of {}; give --ctx {} or less", plan.ctx, m.shape.ctx, m.name,
                            m.shape.ctx));
  Fit f;
  f.model = m;
  f.plan = plan;
  if (f.plan.ctx == 0) f.plan.ctx = std::min(m.shape.ctx, kUsualContext);
  f.left = left;
  f.kv_per_position = kv_bytes_per_position(m.shape, plan.kv);
  for (const uint32_t c : {2048u, 4096u, 8192u, 32768u, 131072u})
    if (c <= m.shape.ctx) f.contexts.push_back(c);
  f.contexts.push_back(f.plan.ctx);
  std::sort(f.contexts.begin(), f.contexts.end());
  f.contexts.erase(std::unique(f.contexts.begin(), f.contexts.end()), f.contexts.end());
  add_depths(f);
  EngOptions o;
  o.ctx = f.plan.ctx;
  o.kv = plan.kv;
  const uint64_t working = eng_work_bytes(m.shape, o, plan.threads);
  const auto add = [&](const std::string& name, const ModelCost& cost) {
    FitRow r{name, cost, f.plan.ctx * f.kv_per_position, working, false, 0, {}};
    r.fits = r.total() <= left.bytes;
    f.rows.push_back(std::move(r));
  };
  if (m.cost) add(m.fixed ? m.type_name : "keep: " + m.type_name, *m.cost);
  if (m.fixed) return f;
  for (const Choice& c : kChoices) add(choice_name(c), model_cost(m.shape, m.tied, c.type, c.head));
  if (m.cost) return f;
  for (const Choice& c : kKept) {
    if (const auto odd = odd_columns(m.shape, m.tied, c))
      f.notes.push_back(fmt::format("{} is not for this shape: a matrix of it has {} columns, which are no whole blocks of {}",
                                    choice_name(c), *odd, kBlockCols));
    else
      add("keep: " + choice_name(c), model_cost(m.shape, m.tied, c.type, c.head));
  }
  return f;
}

std::vector<TType> fit_types(const Fit& f) {
  std::vector<TType> types;
  for (const FitRow& r : f.rows)
    for (const auto& [type, bytes] : r.cost.read_of)
      if (type != TType::vec && std::find(types.begin(), types.end(), type) == types.end()) types.push_back(type);
  return types;
}

void fit_speeds(Fit& f, const FitSpeeds& speeds) {
  f.speeds = speeds;
  if (speeds.read <= 0) return;
  if (!speeds.note.empty()) f.notes.push_back(speeds.note);
  for (FitRow& r : f.rows) {
    for (const uint32_t d : f.depths)
      r.ceilings.push_back(speeds.read * 1e9 /
                           static_cast<double>(r.cost.read_per_token + kv_read_bytes(f.model.shape, f.plan.kv, d)));
    double seconds = static_cast<double>(kv_read_bytes(f.model.shape, f.plan.kv, 0)) * 1e-9 / speeds.read;
    for (const auto& [type, bytes] : r.cost.read_of) {
      const auto it = speeds.products.find(type);
      seconds += static_cast<double>(bytes) * 1e-9 / (it == speeds.products.end() ? speeds.read : it->second);
    }
    r.expected = 1 / seconds;
  }
}

}  // namespace nyb
