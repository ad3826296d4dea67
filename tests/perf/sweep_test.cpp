// sweep_test.cpp - the arithmetic and the words of a sweep; its speeds are no matter for a test.
#include "sweep.h"
#include <gtest/gtest.h>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <thread>
#include "engine/memory.h"
#include "kern/error.h"
#include "kern/splitmix.h"
#include "model/model.h"
#include "probe/probe.h"
#include "refused.h"
#include "support/data.h"
#include "sweep_plan.h"
#include "sweep_report.h"

namespace nyb::test {
namespace {

using nlohmann::json;

SweepRow row() {
  SweepRow r;
  r.model = "126m";
  r.type = "q8";
  r.path = Path::avx2;
  r.threads = 2;
  r.gen = 64;
  r.depth = 512;
  r.weight_bytes = 100000000;
  r.bytes_per_token = 1e8;
  r.macs_per_token = 2e8;
  r.file_bandwidth = 20;
  r.samples = {90, 110, 100};
  return r;
}

TEST(SweepRow, Arithmetic) {
  const SweepRow r = row();
  EXPECT_EQ(r.test(), "tg64 @ d512");
  EXPECT_EQ(r.speed(), 100);
  EXPECT_DOUBLE_EQ(r.spread(), 0.2);
  EXPECT_DOUBLE_EQ(r.gbs(), 10);
  EXPECT_DOUBLE_EQ(r.share(), 0.5);
  EXPECT_DOUBLE_EQ(r.ceiling(), 200);
  EXPECT_DOUBLE_EQ(r.gmacs(), 20);
  EXPECT_DOUBLE_EQ(r.macs_per_byte(), 2);
  SweepRow prompt = r;
  prompt.gen = 0;
  prompt.prompt = 100;
  prompt.chunk = 32;
  EXPECT_DOUBLE_EQ(prompt.macs_per_byte(), 2e8 * 100 / (4 * 1e8)) << "four chunks";
}

// Each sample against the reading around it: a memory that is slow for a while takes nothing from the share.
TEST(SweepRow, ShareOfItsOwnReadings) {
  SweepRow r = row();
  r.reads = {10, 20, 5};
  EXPECT_EQ(r.shares(), (std::vector<double>{90 * 0.1 / 10, 110 * 0.1 / 20, 100 * 0.1 / 5}));
  EXPECT_DOUBLE_EQ(r.share(), 0.9) << "the median of 0.9, 0.55 and 2";
  EXPECT_EQ(r.bandwidth(), 10);
  EXPECT_DOUBLE_EQ(r.ceiling(), 100) << "of the median reading: tok/s / ceiling is another number";
  for (size_t i = 0; i < 3; ++i) r.reads[i] = r.samples[i] * 0.1 / 0.96;
  EXPECT_DOUBLE_EQ(r.share(), 0.96);
  EXPECT_TRUE(row().shares().empty());
}

TEST(SweepReport, EachFormatHasEachRow) {
  Sweep s;
  s.rows = {row(), row()};
  s.rows[0].reads = {36, 11, 20};
  s.rows[1].gen = 0;
  s.rows[1].prompt = 128;
  s.rows[1].model = "a,\"b\"";
  s.rows[1].samples = {100, 100, 100};
  s.rows[1].chunk = 32;
  s.probes = {{2, "mapped file", "ymm x8", 256 << 20, {19, 20, 21}, {"plain C++", 18, 1.125}, true},
              {2, "2 MiB pages", "zmm x4", 0, {22}, {}, false}};
  s.missing = {"vnni: not on this CPU"};
  const Machine m{"a CPU", "2026-01-01T00:00:00Z", "0", "perf", 4, 32 << 20, "abc123"};
  const std::string md = sweep_text(s, m, ReportFormat::md);
  for (const char* text :
       {"nybble 0 at abc123, 2026-01-01T00:00:00Z",
        "2 threads, mapped file, as the weights: 20.0 GB/s median, 21.0 best, spread 10 % (loop ymm x8 over 256 MiB; ",
        "plain C++ 18.0, ratio 1.125, the median of 7 in turn)",
        "2 threads, 2 MiB pages: 22.0 GB/s median, 22.0 best, spread 0 % (loop zmm x4)", "vnni: not on this CPU", "| tg64 @ d512 ",
        "| pp128 @ d512 ", "1 of 2 rows spread by more than 10 %", "50 %", "\nall rows: kv f32, chunk 32, samples 3\n", "MAC/byte"})
    EXPECT_NE(md.find(text), std::string::npos) << text << " in\n" << md;
  const json j = json::parse(sweep_text(s, m, ReportFormat::json));
  EXPECT_EQ(j["machine"]["cpus"], 4);
  EXPECT_EQ(j["machine"]["commit"], "abc123");
  EXPECT_EQ(j["read"][0]["gb_per_second"], 20.0);
  EXPECT_EQ(j["read"][0]["best_gb_per_second"], 21.0);
  EXPECT_EQ(j["read"][0]["weights"], true);
  EXPECT_EQ(j["read"][1]["weights"], false);
  ASSERT_EQ(j["rows"].size(), 2u);
  EXPECT_EQ(j["rows"][0]["samples"], json({90.0, 110.0, 100.0}));
  EXPECT_EQ(j["rows"][0]["share"], 0.5);
  EXPECT_EQ(j["rows"][0]["read_samples"], json({36.0, 11.0, 20.0}));
  EXPECT_EQ(j["rows"][0]["read_gb_per_second"], 20.0);
  EXPECT_EQ(j["rows"][0]["share_confidence"], 0.75);
  EXPECT_NEAR(j["rows"][0]["share_low"].get<double>(), 0.25, 1e-12);
  EXPECT_NEAR(j["rows"][0]["share_high"].get<double>(), 1, 1e-12);
  EXPECT_EQ(j["noisy_above"], 0.1);
  EXPECT_EQ(j["rows"][0]["noisy"], true);
  EXPECT_EQ(j["rows"][1]["noisy"], false);
  EXPECT_EQ(j["read"][0]["over_plain"], 1.125);
  for (const char* name : {"share", "share_low", "read_samples"})
    EXPECT_EQ(j["rows"][1].count(name), 0u) << "a prompt's weights serve many tokens";
  s.rows[1].kv = KvType::f16;
  EXPECT_NE(sweep_text(s, m, ReportFormat::md).find("| kv "), std::string::npos) << "where rows differ, a column";
  const std::string lines = sweep_text(s, m, ReportFormat::jsonl);
  EXPECT_EQ(json::parse(lines.substr(0, lines.find('\n')))["test"], "tg64 @ d512");
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 2);
  const std::string csv = sweep_text(s, m, ReportFormat::csv);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 3);
  EXPECT_NE(csv.find("\n\"a,\"\"b\"\"\","), std::string::npos) << csv;
  EXPECT_NE(csv.find(",36 11 20,"), std::string::npos) << csv;
  EXPECT_THROW(report_format("xml"), Error);
}

TEST(Probe, ReadsAllOfIt) {
  const ProbeMemory memory(size_t{16} << 20, ProbeMemory::Kind::file);
  Pool pool(2);
  const std::vector<LoopSpeed> loops = probe(memory.bytes(), pool, 2);
  ASSERT_FALSE(loops.empty());
  size_t plain = 0;
  for (const LoopSpeed& l : loops) {
    EXPECT_EQ(l.samples.size(), 2u);
    EXPECT_GE(l.best, l.median);
    EXPECT_LE(l.median, loops.front().median);
    plain += l.plain;
  }
  EXPECT_EQ(plain, plain_loops(cpu_here()).size());
  EXPECT_GT(read_speed(plain_loops(cpu_here())[0].name, memory.bytes(), pool), 0);
  EXPECT_THROW(read_speed("no such loop", memory.bytes(), pool), Error);
}

TEST(Probe, ReadsForATime) {
  const ProbeMemory memory(size_t{16} << 20, ProbeMemory::Kind::file);
  const auto size = static_cast<double>(memory.bytes().size());
  Pool pool(1);
  const std::string loop = plain_loops(cpu_here())[0].name;
  EXPECT_EQ(read_for(0, loop, memory.bytes(), pool).bytes, size) << "all of it once at least";
  const double once = read_for(0, loop, memory.bytes(), pool).seconds;
  const ReadTime t = read_for(10 * once, loop, memory.bytes(), pool);
  EXPECT_GE(t.seconds, 10 * once);
  EXPECT_GE(t.bytes, 2 * size);
  EXPECT_EQ(std::fmod(t.bytes, size), 0);
  ReadTime both{6e9, 1};
  both += {6e9, 3};
  EXPECT_DOUBLE_EQ(both.gbs(), 3) << "by time: the mean of 6 and 2 would be 4";
  EXPECT_EQ(ReadTime{}.gbs(), 0);
}

// Any length, from any place, by every loop: all words, each once.
TEST(Probe, EveryLoopReadsEveryLength) {
  std::vector<uint64_t> words((64 << 10) / 8 + 1);
  uint64_t state = 1;
  for (uint64_t& w : words) w = splitmix64(state);
  std::vector<ReadLoop> loops = read_loops(cpu_here());
  for (const CpuFeatures& cpu : {cpu_here(), CpuFeatures{}})
    for (const ReadLoop& l : plain_loops(cpu)) loops.push_back(l);
  for (const size_t from : {size_t{0}, size_t{1}})
    for (size_t bytes = 0; bytes <= 64 << 10; bytes += bytes < 8192 ? 512 : 7 * 512) {
      uint64_t expected = 0;
      for (size_t i = 0; i < bytes / 8; ++i) expected ^= words[from + i];
      for (const ReadLoop& l : loops)
        EXPECT_EQ(l.run(words.data() + from, bytes), expected) << l.name << ' ' << bytes << ' ' << from;
    }
}

TEST(Probe, BesidePlainLoops) {
  const std::vector<LoopSpeed> loops = {{"a", false, {10, 12, 11}, 12, 11},
                                        {"p", true, {10, 10, 10}, 10, 10},
                                        {"b", false, {1, 1, 1}, 1, 1},
                                        {"q", true, {1, 1, 1}, 1, 1}};
  const PlainSpeed p = beside_plain(loops);
  EXPECT_EQ(p.loop, "p");
  EXPECT_EQ(p.median, 10);
  EXPECT_DOUBLE_EQ(p.ratio, 1.1);
  EXPECT_EQ(beside_plain({loops[1]}).ratio, 0);
}

SweepOptions small(const std::string& model) {
  SweepOptions o;
  o.models = {model};
  o.threads = {1};
  o.gen = {2};
  o.prompt = {3};
  o.depth = {0, 40};
  o.repetitions = 2;
  o.read_bytes = size_t{16} << 20;
  return o;
}

std::string pocket() { return (binary_dir() / "share/nybble/pocket.mnm").string(); }

TEST(Sweep, HasARowForEachCombination) {
  if (const std::string lacks = cpu_missing(cpu_here(), Path::avx2); !lacks.empty()) GTEST_SKIP() << "this CPU lacks " << lacks;
  SweepOptions o = small(pocket());
  o.paths = {Path::ref, Path::avx2};
  const Sweep s = run_sweep(cpu_here(), o);
  ASSERT_EQ(s.rows.size(), 8u);
  ASSERT_EQ(s.probes.size(), huge_pages_off().empty() ? 2u : 1u);
  for (const SweepProbe& p : s.probes) {
    EXPECT_EQ(p.samples.size(), 2u);
    EXPECT_EQ(p.weights, p.kind == "mapped file");
  }
  for (const SweepRow& r : s.rows) {
    EXPECT_EQ(r.samples.size(), 2u) << r.test();
    EXPECT_EQ(r.reads.size(), r.gen ? 2u : 0u) << r.test();
    EXPECT_TRUE(std::all_of(r.reads.begin(), r.reads.end(), is_speed)) << r.test();
    EXPECT_EQ(r.share() > 0, r.gen > 0) << r.test();
    EXPECT_GT(r.speed(), 0);
    EXPECT_EQ(r.gen > 0, r.bytes_per_token > 0);
  }
  const auto model = eng_load(pocket());
  const double head = static_cast<double>(model->head->rows * model->head->cols);
  EXPECT_DOUBLE_EQ(3 * s.rows[1].macs_per_token, 3 * s.rows[0].macs_per_token - 2 * head) << "a prompt's head runs once";
}

// The share of a model in huge pages is that of reading from huge pages.
TEST(Sweep, EachKindOfMemoryAgainstItsOwn) {
  if (const std::string lacks = cpu_missing(cpu_here(), Path::avx2); !lacks.empty()) GTEST_SKIP() << "this CPU lacks " << lacks;
  SweepOptions o = small(pocket());
  o.paths = {Path::avx2};
  o.loads = {LoadMode::map, LoadMode::huge};
  o.prompt = o.depth = {0};
  if (const std::string off = huge_pages_off(); !off.empty()) {
    EXPECT_THROW(run_sweep(cpu_here(), o), Error) << off;
    return;
  }
  const Sweep s = run_sweep(cpu_here(), o);
  ASSERT_EQ(s.rows.size(), 2u);
  ASSERT_EQ(s.probes.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(s.rows[i].load, i ? "2 MiB pages" : "mapped file");
    EXPECT_EQ(s.probes[i].kind, s.rows[i].load);
    EXPECT_TRUE(s.probes[i].weights);
    EXPECT_EQ(s.rows[i].reads.size(), 2u);
  }
}

// By threads and kind of memory.
TEST(Sweep, EachRowHasItsProbe) {
  std::vector<ProbeCell> probes;
  for (const unsigned threads : {1, 2})
    for (const char* kind : {"mapped file", "2 MiB pages"}) probes.push_back({nullptr, {threads, kind, "x", 0, {}, {}, false}});
  SweepRow r = row();
  r.load = "mapped file";
  EXPECT_EQ(&probe_of(probes, r), &probes[2]);
  r.load = "2 MiB pages";
  EXPECT_EQ(&probe_of(probes, r), &probes[3]);
  r.threads = 3;
  expect_refused([&] { probe_of(probes, r); }, "3 threads", "2 MiB pages");
}

// A sample of decode is between two readings and holds none; a prompt's has none at all.
TEST(Sweep, DecodeIsBetweenReadings) {
  using Clock = std::chrono::steady_clock;
  SweepOptions o = small(pocket());
  o.paths = {Path::ref};
  o.threads = {2};
  o.depth = {0};
  SweepPlan plan = sweep_plan(cpu_here(), o);
  ASSERT_EQ(plan.cells.size(), 2u);
  std::vector<Clock::time_point> from, to;
  const auto read = [&](Pool& pool) {
    EXPECT_EQ(pool.threads(), 2u);
    from.push_back(Clock::now());
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    to.push_back(Clock::now());
    return from.size() == 1 ? ReadTime{6e9, 1} : ReadTime{6e9, 3};
  };
  for (SweepCell& c : plan.cells) sweep_sample(c, read);
  const SweepRow &decode = plan.cells[0].row, &prompt = plan.cells[1].row;
  EXPECT_EQ(decode.reads, std::vector<double>{3}) << "both together, by time";
  ASSERT_EQ(decode.samples.size(), 1u);
  EXPECT_EQ(prompt.samples.size(), 1u);
  EXPECT_TRUE(prompt.reads.empty());
  ASSERT_EQ(from.size(), 2u);
  EXPECT_LE(decode.gen / decode.samples[0], std::chrono::duration<double>(from[1] - to[0]).count() * (1 + 1e-9));
}

TEST(Sweep, ReadsByTheLoopOfTheProbe) {
  const ProbeMemory memory(size_t{16} << 20, ProbeMemory::Kind::file);
  ProbeCell probe{&memory, {1, "mapped file", plain_loops(cpu_here())[0].name, 0, {}, {}, false}};
  Pool pool(1);
  const ReadBeside read = read_beside(probe);
  EXPECT_GE(read(pool).seconds, kReadBeside);
  probe.probe.loop = "no such loop";
  expect_refused([&] { read(pool); }, "no such loop", "CPU");
}

TEST(Sweep, TellsTheOrderOfEachKindOfMemory) {
  SweepModel m = file_model(pocket(), LoadMode::map);
  ReadOrder order{with_order(kern_table(Path::ref), Order::pages), {1, 0.5, 0.75}};
  EXPECT_EQ(order_note(m, order),
            "pocket, q8, mapped file, on ref: weights read by pages, in order takes 2.00 times as long, in streams 1.50");
  m.model->load = LoadMode::huge;
  EXPECT_TRUE(order_note(m, order).starts_with("pocket, q8, 2 MiB pages, on ref: ")) << order_note(m, order);
}

TEST(Sweep, RefusesAPathThatIsWrong) {
  if (const std::string lacks = cpu_missing(cpu_here(), Path::avx2); !lacks.empty()) GTEST_SKIP() << "this CPU lacks " << lacks;
  KernTable wrong = kern_table(Path::avx2);
  wrong.vec_add = [](const float* a, const float* b, float* out, size_t n) {
    for (size_t i = 0; i < n; ++i) out[i] = a[i] + b[i];
    out[n - 1] += 1;
  };
  SweepOptions o = small(pocket());
  o.paths = {Path::avx2};
  expect_refused([&] { run_sweep(cpu_here(), o, [&](Path) -> const KernTable& { return wrong; }); }, "avx2", "vec_add");
}

TEST(Sweep, CachesOfEachType) {
  SweepOptions o = small(pocket());
  o.paths = {Path::ref};
  o.prompt = {0};
  o.depth = {40};
  o.repetitions = 1;
  o.kv = {KvType::f32, KvType::f16};
  const Sweep s = run_sweep(cpu_here(), o);
  ASSERT_EQ(s.rows.size(), 2u);
  EXPECT_EQ(s.rows[1].kv, KvType::f16);
  const ModelShape shape = eng_load(pocket())->shape;  // two tokens see 41 and 42 positions
  EXPECT_DOUBLE_EQ(s.rows[0].bytes_per_token - s.rows[1].bytes_per_token,
                   41.5 * static_cast<double>(kv_bytes_per_position(shape, KvType::f16)));
  EXPECT_EQ(s.rows[0].chunk, 40u + 2 + kWarmUp) << "no more than the context";
  o.gen = {0, 0};
  EXPECT_THROW(run_sweep(cpu_here(), o), Error) << "nothing to measure";
}

TEST(Sweep, SaysWhatCannotBeRun) {
  SweepOptions o = small(pocket());
  o.shapes = {"no such shape"};
  EXPECT_THROW(run_sweep(cpu_here(), o), Error);
  SweepOptions deep = small(pocket());
  deep.depth = {100000};
  EXPECT_THROW(run_sweep(cpu_here(), deep), Error);
  EXPECT_THROW(run_sweep(CpuFeatures{}, small(pocket())), Error) << "a CPU without any path";
}

}  // namespace
}  // namespace nyb::test
