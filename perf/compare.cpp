// compare.cpp - which row belongs to which, and what else differs.
#include "compare.h"
#include <fmt/format.h>
#include <algorithm>
#include <deque>
#include <map>
#include <tuple>
#include "common/app.h"
#include "probe/probe.h"

namespace nyb {
namespace {

using Key = std::tuple<std::string, uint64_t, uint64_t, std::string, std::string, Path, unsigned, KvType, uint32_t, uint32_t,
                       uint32_t, uint32_t>;

Key key_of(const SweepRow& r) {
  return {r.model, r.params, r.weight_bytes, r.type, r.load, r.path, r.threads, r.kv, r.chunk, r.prompt, r.gen, r.depth};
}

void warn_of_machines(Comparison& c) {
  const Machine &a = c.old_machine, &b = c.machine;
  const auto differ = [&](bool does, const char* what, const std::string& x, const std::string& y) {
    if (does) c.warnings.push_back(human_words(fmt::format("{} differ: {} and {}", what, x, y)));
  };
  differ(a.cpu != b.cpu, "the CPUs", a.cpu, b.cpu);
  differ(a.cpus != b.cpus, "the numbers of CPUs", fmt::format("{}", a.cpus), fmt::format("{}", b.cpus));
  differ(a.last_cache != b.last_cache, "the sizes of the last cache", fmt::format("{} MiB", a.last_cache >> 20),
         fmt::format("{} MiB", b.last_cache >> 20));
  const auto commit = [](const Machine& m) { return m.commit.empty() ? fmt::format("an unknown one of {}", m.version) : m.commit; };
  differ(a.commit != b.commit || a.version != b.version, "the commits", commit(a), commit(b));
  for (const Machine* m : {&a, &b})
    if (m->commit.empty() || m->commit.ends_with("+changed")) {
      c.warnings.push_back(fmt::format("the commit does not tell all of the source ({})", human_words(commit(*m))));
      break;
    }
}

void warn_of_bandwidth(Comparison& c, const Sweep& old, const Sweep& now) {
  for (const SweepProbe& a : old.probes)
    for (const SweepProbe& b : now.probes) {
      if (a.threads != b.threads || a.kind != b.kind) continue;
      const double before = median(a.samples), after = median(b.samples);
      if (std::max(before, after) > std::min(before, after) * (1 + kSameBandwidth))
        c.warnings.push_back(fmt::format(
            "reading with {} thread{} ({}) gave {:.1f} GB/s and gives {:.1f}: the memory itself was {} the second time, "
            "and decode with it",
            a.threads, a.threads == 1 ? "" : "s", human_words(a.kind), before, after, after < before ? "slower" : "faster"));
    }
}

void warn_of_noise(Comparison& c, const Sweep& old, const Sweep& now) {
  for (const auto& [which, s] : {std::pair("old", &old), std::pair("new", &now)})
    if (const std::string noise = noisy_words(s->rows, [](const SweepRow& r) { return r.samples; }); !noise.empty())
      c.warnings.push_back(fmt::format("of the {}, {}", which, noise.substr(0, noise.find(':'))));
}

}  // namespace

std::string row_name(const SweepRow& r) {
  std::string name =
      fmt::format("{} {}, {}, {} thread{}, {}", r.model, r.type, path_name(r.path), r.threads, r.threads == 1 ? "" : "s", r.test());
  if (r.kv != KvType::f32) name += fmt::format(", {} cache", kv_name(r.kv));
  if (r.chunk != SweepOptions{}.chunk && r.prompt) name += fmt::format(", chunk {}", r.chunk);
  if (r.load != probe_kind_name(ProbeMemory::Kind::file)) name += fmt::format(", {}", r.load);
  return human_words(name);
}

Comparison compare(const SavedSweep& old, const SavedSweep& now) {
  Comparison c;
  c.old_machine = old.machine;
  c.machine = now.machine;
  warn_of_machines(c);
  warn_of_bandwidth(c, old.sweep, now.sweep);
  warn_of_noise(c, old.sweep, now.sweep);
  std::map<Key, std::deque<size_t>> left;  // of the new rows, in their order
  for (size_t i = 0; i < now.sweep.rows.size(); ++i) left[key_of(now.sweep.rows[i])].push_back(i);
  for (const SweepRow& r : old.sweep.rows) {
    std::deque<size_t>& same = left[key_of(r)];
    if (same.empty()) {
      c.only_old.push_back(r);
      continue;
    }
    const SweepRow& other = now.sweep.rows[same.front()];
    same.pop_front();
    c.rows.push_back({r, other, ratio_of_sets(r.samples, other.samples)});
  }
  for (size_t i = 0; i < now.sweep.rows.size(); ++i)
    if (const auto& rest = left[key_of(now.sweep.rows[i])]; std::find(rest.begin(), rest.end(), i) != rest.end())
      c.only_new.push_back(now.sweep.rows[i]);
  return c;
}

}  // namespace nyb
