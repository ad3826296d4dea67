// sweep_plan.cpp - models, rows and checks; and how one sample of a row is taken.
#include "sweep_plan.h"
#include <fmt/format.h>
#include <algorithm>
#include <chrono>
#include <cstring>
#include "common/app.h"
#include "engine/engine.h"
#include "engine/memory.h"
#include "engine/read_order.h"
#include "engine/self_check.h"
#include "engine/threads.h"
#include "huge.h"
#include "model/shapes.h"
#include "paths.h"

namespace nyb {
namespace {

constexpr uint32_t kMostChecked = 12;  // positions whose logits are compared between the paths

std::string_view kind_of(const Model& m) {
  return probe_kind_name(m.load == LoadMode::huge ? ProbeMemory::Kind::huge : ProbeMemory::Kind::file);
}

// "126m, q4, mapped file": what sets one model of a sweep apart from the others
std::string which(const SweepModel& m) { return fmt::format("{}, {}, {}", m.label, m.model->type_name, kind_of(*m.model)); }

std::vector<float> checked_logits(const Model& m, const KernTable& kern) {
  Pool pool(1);
  EngOptions o;
  o.ctx = std::min(m.shape.ctx, kMostChecked);
  Engine e(m, kern, pool, o);
  const std::vector<int32_t> ids = some_ids(o.ctx, m.shape.vocab);
  std::vector<float> logits(ids.size() * m.shape.vocab);
  eng_step(e, ids, 0, logits);
  return logits;
}

// No path is timed that does not give the reference's bytes: kernel by kernel, and then all of it, one path against the other.
void check_equal(const SweepModel& m, const std::vector<Path>& paths, const TableOf& table) {
  const CheckShapes shapes = check_shapes(*m.model);
  std::vector<float> first;
  for (const Path p : paths) {
    if (const std::vector<std::string> bad = self_check(table(p), shapes); !bad.empty())
      throw Error(
          fmt::format("the path {} differs from the reference in {}: it is not worth timing", path_name(p), fmt::join(bad, ", ")));
    std::vector<float> logits = checked_logits(*m.model, table(p));
    if (first.empty())
      first = std::move(logits);
    else if (std::memcmp(first.data(), logits.data(), first.size() * sizeof(float)) != 0)
      throw Error(fmt::format("the logits of {} on the path {} are not those on {}: it is not worth timing", m.label, path_name(p),
                              path_name(paths.front())));
  }
}

std::vector<uint32_t> threads_of(const SweepOptions& o) {
  if (!o.threads.empty()) return o.threads;
  const unsigned usual = threads_default().count;
  return usual == 1 ? std::vector<uint32_t>{1} : std::vector<uint32_t>{1, usual};
}

SweepRow row_of(const SweepModel& m, uint32_t chunk, KvType kv, Path path, unsigned threads, uint32_t prompt, uint32_t gen,
                uint32_t depth) {
  const ModelCost cost = model_cost(m.model->tensors, m.model->head == m.model->embed);
  SweepRow r;
  r.model = m.label;
  r.type = m.model->type_name;
  r.load = kind_of(*m.model);
  r.params = m.model->shape.params;
  r.weight_bytes = cost.weights;
  r.path = path;
  r.threads = threads;
  r.kv = kv;
  r.prompt = prompt;
  r.gen = gen;
  r.depth = depth;
  r.chunk = std::min(chunk, row_context(r));
  r.macs_per_token = static_cast<double>(cost.macs_per_token);
  if (prompt) {  // of all its tokens the last alone goes through the head
    r.macs_per_token -= static_cast<double>(m.model->head->rows * m.model->head->cols) * (1 - 1.0 / prompt);
    return r;
  }
  uint64_t cache = 0;  // read by all of the tokens
  for (uint32_t i = 0; i < gen; ++i) cache += kv_read_bytes(m.model->shape, kv, uint64_t{depth} + i);
  r.bytes_per_token = static_cast<double>(cost.read_per_token) + static_cast<double>(cache) / gen;
  return r;
}

void add_cells(SweepPlan& plan, const SweepModel& m, const SweepOptions& o, const std::vector<Path>& paths, const TableOf& table) {
  std::vector<KernTable> kerns;  // of the paths
  for (const Path p : paths) {
    const ReadOrder order = read_order(table(p), *m.model);
    kerns.push_back(order.table);
    if (order.time[0] > 0) plan.missing.push_back(order_note(m, order));
  }
  const auto add = [&](KvType kv, uint32_t depth, uint32_t threads, const KernTable& kern, uint32_t prompt, uint32_t gen) {
    if (prompt + gen == 0) return;
    if (uint64_t{depth} + prompt + gen + kWarmUp > m.model->shape.ctx)
      throw Error(fmt::format("{} has a context of {}, too short for {} tokens at depth {} ({} more warm it up)", m.label,
                              m.model->shape.ctx, prompt + gen, depth, kWarmUp));
    plan.cells.push_back({m.model.get(), kern, row_of(m, o.chunk, kv, kern.path, threads, prompt, gen, depth)});
  };
  for (const KvType kv : o.kv)
    for (const uint32_t depth : o.depth)
      for (const uint32_t threads : plan.threads)
        for (const KernTable& kern : kerns) {
          for (const uint32_t n : o.gen) add(kv, depth, threads, kern, 0, n);
          for (const uint32_t n : o.prompt) add(kv, depth, threads, kern, n, 0);
        }
}

}  // namespace

std::vector<int32_t> some_ids(size_t n, uint32_t vocab) {
  std::vector<int32_t> ids(n);
  for (size_t i = 0; i < n; ++i) ids[i] = static_cast<int32_t>((i * 7919 + 13) % vocab);
  return ids;
}

std::string order_note(const SweepModel& m, const ReadOrder& order) {
  return fmt::format("{}, on {}: {}", human_words(which(m)), path_name(order.table.path), read_order_told(order));
}

uint32_t row_context(const SweepRow& r) { return r.depth + std::max(r.prompt, r.gen) + kWarmUp; }

void check_tests(const SweepOptions& o) {
  const auto none = [](const std::vector<uint32_t>& counts) {
    return std::all_of(counts.begin(), counts.end(), [](uint32_t n) { return n == 0; });
  };
  if (none(o.gen) && none(o.prompt)) throw UsageError("there is nothing to measure: -n and -p are both 0");
}

SweepPlan sweep_plan(const CpuFeatures& cpu, const SweepOptions& o, const TableOf& table) {
  check_tests(o);
  SweepPlan plan;
  const std::vector<Path> paths = measured_paths(cpu, o.paths, plan.missing);
  if (paths.empty())
    throw Error(fmt::format("this CPU lacks {}, so none of the kernel paths runs; --kernel ref times the scalar code",
                            cpu_missing(cpu, Path::avx2)));
  plan.threads = threads_of(o);
  for (const LoadMode load : o.loads) {
    for (const std::string& path : o.models) plan.models.push_back(file_model(path, load));
    for (const std::string& shape : o.shapes)
      for (const TType type : o.types) plan.models.push_back(shape_model(shape, type, load));
  }
  for (const SweepModel& m : plan.models) {
    check_equal(m, paths, table);
    if (m.model->load == LoadMode::huge) note_huge(which(m), std::as_bytes(m.model->bytes()), plan.missing);
    add_cells(plan, m, o, paths, table);
  }
  return plan;
}

void sweep_sample(SweepCell& cell, const ReadBeside& read) {
  SweepRow& row = cell.row;
  const uint32_t tokens = std::max(row.prompt, row.gen), vocab = cell.model->shape.vocab;
  EngOptions options;
  options.ctx = row_context(row);
  options.kv = row.kv;
  options.chunk = row.chunk;
  options.cancel = &interrupt_flag();
  Pool pool(row.threads);
  Engine engine(*cell.model, cell.kern, pool, options);
  const std::vector<int32_t> ids = some_ids(tokens + kWarmUp, vocab);
  std::vector<float> logits(vocab);
  eng_fill(engine, row.depth);
  ReadTime around;
  if (row.gen) around = read(pool);
  for (uint32_t i = 0; i < kWarmUp; ++i) eng_step(engine, std::span(ids).subspan(i, 1), row.depth + i, logits);
  const auto start = std::chrono::steady_clock::now();
  if (row.prompt) {
    eng_step(engine, std::span(ids).first(tokens), row.depth, logits);
  } else {
    for (uint32_t i = 0; i < tokens; ++i) eng_step(engine, std::span(ids).subspan(i, 1), row.depth + i, logits);
  }
  const auto end = std::chrono::steady_clock::now();
  if (row.gen) row.reads.push_back((around += read(pool)).gbs());
  row.samples.push_back(tokens / std::chrono::duration<double>(end - start).count());
}

std::vector<std::unique_ptr<ProbeMemory>> probe_memories(size_t bytes, std::vector<std::string>& notes) {
  if (bytes == 0) {
    const ProbeSize size = probe_size();
    bytes = size.bytes;
    if (const std::string note = size.note(); !note.empty()) notes.push_back(note);
  }
  std::vector<std::unique_ptr<ProbeMemory>> all;
  all.push_back(std::make_unique<ProbeMemory>(bytes, ProbeMemory::Kind::file));
  if (const std::string off = huge_pages_off(); !off.empty()) {
    notes.push_back(fmt::format("no reading from 2 MiB pages: {}", off));
    return all;
  }
  all.push_back(std::make_unique<ProbeMemory>(bytes, ProbeMemory::Kind::huge));
  note_huge("the memory of the reading from 2 MiB pages", all.back()->bytes(), notes);
  return all;
}

std::vector<ProbeCell> sweep_probes(const std::vector<std::unique_ptr<ProbeMemory>>& memories,
                                    const std::vector<uint32_t>& threads) {
  std::vector<ProbeCell> all;
  for (const uint32_t n : threads)
    for (const auto& memory : memories) {
      Pool pool(n);
      const std::vector<LoopSpeed> loops = probe(memory->bytes(), pool, kProbeRounds);
      SweepProbe p;
      p.threads = n;
      p.kind = probe_kind_name(memory->kind());
      p.loop = loops.front().loop;
      p.bytes = memory->bytes().size();
      p.plain = beside_plain(loops);
      all.push_back({memory.get(), std::move(p)});
    }
  return all;
}

const ProbeCell& probe_of(const std::vector<ProbeCell>& probes, const SweepRow& row) {
  for (const ProbeCell& c : probes)
    if (c.probe.threads == row.threads && c.probe.kind == row.load) return c;
  throw Error(fmt::format("no reading with {} threads in {} goes with {}", row.threads, row.load, row.test()));
}

ReadBeside read_beside(const ProbeCell& probe) {
  return [&probe](Pool& pool) { return read_for(kReadBeside, probe.probe.loop, probe.memory->bytes(), pool); };
}

Sweep sweep_result(SweepPlan&& plan, std::vector<ProbeCell>&& probes) {
  Sweep sweep;
  sweep.missing = std::move(plan.missing);
  for (ProbeCell& c : probes) sweep.probes.push_back(std::move(c.probe));
  for (SweepCell& c : plan.cells) {
    for (SweepProbe& p : sweep.probes) p.weights |= p.kind == c.row.load;
    sweep.rows.push_back(std::move(c.row));
  }
  return sweep;
}

}  // namespace nyb
