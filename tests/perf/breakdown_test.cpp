// breakdown_test.cpp - the parts of a token are the token, and the loops that only load leave nothing out.
#include "breakdown.h"
#include <gtest/gtest.h>
#include <algorithm>
#include <nlohmann/json.hpp>
#include "breakdown_report.h"
#include "engine/kv_cache.h"
#include "kern/error.h"
#include "model/model.h"
#include "model/random_model.h"
#include "probe/panel_loads.h"
#include "refused.h"
#include "stage_loads.h"
#include "support/data.h"
#include "weights.h"

namespace nyb::test {
namespace {

using nlohmann::json;

std::string pocket() { return (binary_dir() / "share/nybble/pocket.mnm").string(); }

SweepOptions small() {
  SweepOptions o;
  o.models = {pocket()};
  o.threads = {1, 2};
  o.gen = {3};
  o.prompt = {5};
  o.depth = {20};
  o.chunk = 2;
  o.repetitions = 3;
  return o;
}

TEST(Breakdown, ThePartsAreTheToken) {
  SweepOptions o = small();
  o.paths = {Path::ref};
  const bool loads = cpu_missing(cpu_here(), Path::avx2).empty();
  if (loads) o.paths.push_back(Path::avx2);
  const Breakdown b = run_breakdown(cpu_here(), o);
  ASSERT_EQ(b.rows.size(), 4 * o.paths.size());
  for (const BreakdownRow& r : b.rows) {
    SCOPED_TRACE(testing::Message() << r.row.test() << ' ' << path_name(r.row.path) << ' ' << r.row.threads);
    EXPECT_EQ(r.row.samples.size(), 3u);
    const size_t steps = r.row.prompt ? 3 : 9;
    double sum = 0, waited = 0;
    for (const BreakdownPart& p : r.parts) {
      EXPECT_GE(p.seconds, 0) << p.name;
      EXPECT_GE(p.waited, 0) << p.name;
      sum += p.seconds;
      waited += p.waited;
      EXPECT_EQ(p.loads > 0, loads && p.macs > 0) << p.name;
      if (p.samples.empty()) continue;
      ASSERT_EQ(p.samples.size(), steps) << p.name;
      const auto [low, high] = std::minmax_element(p.samples.begin(), p.samples.end());
      EXPECT_LE(*low, p.all() * 1.000001) << p.name;
      EXPECT_GE(*high, p.all() * 0.999999) << p.name;
    }
    for (const BreakdownPart& p : r.parts) {
      if (p.name == kWaiting) { EXPECT_NEAR(p.seconds, waited, 1e-9); }
    }
    EXPECT_NEAR(sum, r.whole, 1e-9);
    ASSERT_EQ(r.parts.size(), 12u);
    EXPECT_EQ(r.parts.back().name, kOther);
    EXPECT_EQ(r.parts[4].bytes > 0, r.row.gen > 0) << "attention";
  }
}

// By hand: what the parts read and multiply is what the sweep counts.
TEST(Breakdown, TheWorkIsTheSweeps) {
  SweepOptions o = small();
  o.paths = {Path::ref};
  o.threads = {1};
  o.repetitions = 1;
  const Breakdown b = run_breakdown(cpu_here(), o);
  ASSERT_EQ(b.rows.size(), 2u);
  for (const BreakdownRow& r : b.rows) {
    double bytes = 0, macs = 0;
    for (const BreakdownPart& p : r.parts) {
      bytes += p.bytes;
      macs += p.macs;
    }
    EXPECT_NEAR(macs, r.row.macs_per_token, 1e-6 * macs) << r.row.test();
    // all but the norms, of which a token reads every one too
    if (r.row.gen) { EXPECT_NEAR(bytes, r.row.bytes_per_token, 0.005 * bytes); }
  }
  const auto model = eng_load(pocket());
  const auto down = static_cast<double>(model->layers[0].down->bytes) * model->shape.layers;
  EXPECT_DOUBLE_EQ(b.rows[0].parts[7].bytes, down);
  EXPECT_DOUBLE_EQ(b.rows[1].parts[7].bytes, down * 3 / 5) << "five tokens in chunks of two";
  EXPECT_DOUBLE_EQ(b.rows[1].parts[8].bytes, static_cast<double>(model->head->bytes) / 5);
}

TEST(Breakdown, RefusesAPathThatIsWrong) {
  KernTable wrong = kern_table(Path::ref);
  wrong.swiglu = [](const float* g, const float* u, float* y, size_t n) {
    kern_table(Path::ref).swiglu(g, u, y, n);
    y[0] += 1;
  };
  SweepOptions o = small();
  o.paths = {Path::ref};
  expect_refused([&] { run_breakdown(cpu_here(), o, [&](Path) -> const KernTable& { return wrong; }); }, "ref", "swiglu");
}

TEST(Breakdown, WordsAndJson) {
  BreakdownRow r;
  r.row.model = "126m";
  r.row.type = "q8";
  r.row.load = "mapped file";
  r.row.path = Path::avx2;
  r.row.gen = 64;
  r.row.samples = {900, 1000, 1100};
  r.whole = 1e-3;
  BreakdownPart o{"o", 6e-4, 1e-4, 7e6, 7e6, 35e-5, 0.5, {7e-4}};
  r.parts = {o, {kWaiting, 1e-4, 0, 0, 0, 0, 0, {}}, {kOther, 3e-4, 0, 0, 0, 0, 0, {}}};
  Breakdown b;
  b.rows = {r};
  b.missing = {"vnni8: not on this CPU"};
  const Machine m{"a CPU", "2026-01-01T00:00:00Z", "0", "perf --breakdown", 4, 32 << 20, "abc123"};
  const std::string md = breakdown_text(b, m, ReportFormat::md);
  for (const char* text :
       {"126m q8, mapped file, avx2, 1 thread, kv f32, tg64: 1000.0 tok/s", "vnni8: not on this CPU",
        "| o                   |   600.00 |  60.0 % |  100.00 | 7.00 | 10.0 |       20.0 |       50 % |   10.0 |",
        "| whole               |  1000.00 | 100.0 % |", "30 % of the time is in none of the parts",
        "\n1 of 1 rows spread by more than 10 %"})
    EXPECT_NE(md.find(text), std::string::npos) << text << " in\n" << md;
  const json j = json::parse(breakdown_text(b, m, ReportFormat::json));
  EXPECT_EQ(j["machine"]["commit"], "abc123");
  EXPECT_EQ(j["rows"][0]["n_gen"], 64);
  EXPECT_EQ(j["rows"][0]["noisy"], true);
  EXPECT_EQ(j["rows"][0]["microseconds"], 1000);
  const json& part = j["rows"][0]["parts"][0];
  EXPECT_EQ(part["part"], "o");
  EXPECT_DOUBLE_EQ(part["waited_microseconds"], 100);
  EXPECT_DOUBLE_EQ(part["loads_gb_per_second"], 20);
  EXPECT_EQ(part["arithmetic_share"], 0.5);
  EXPECT_EQ(part["samples_microseconds"].size(), 1u);
  EXPECT_EQ(j["rows"][0]["parts"][1].count("gb_per_second"), 0u);
  EXPECT_THROW(breakdown_text(b, m, ReportFormat::csv), Error);
}

// Any number of panels and groups, of every type and from every place: what is loaded is what is there.
TEST(PanelLoads, LeaveNothingOut) {
  if (!panel_loads(cpu_here(), kern_table(Path::avx2))) GTEST_SKIP() << "this CPU lacks " << cpu_missing(cpu_here(), Path::avx2);
  for (const Path p : {Path::avx2, Path::avx512}) {
    if (!cpu_missing(cpu_here(), p).empty()) continue;
    for (const Order order : kAllOrders) {
      const PanelLoads& loads = *panel_loads(cpu_here(), with_order(kern_table(p), order));
      for (const TType t : kMatrixTypes)
        for (const size_t cols : {size_t{32}, size_t{96}, size_t{256}, size_t{1024}, size_t{172}}) {
          if (cols % block_cols(t) != 0) continue;
          constexpr size_t panels = 9;
          std::vector<std::byte> bytes(weight_bytes(t, panels * kPanelRows, cols));
          const Tensor w = random_matrix(t, panels * kPanelRows, cols, bytes.data(), 7);
          const Vectors x(cols, panels * kPanelRows);
          for (size_t from = 0; from < panels; ++from)
            for (size_t to = from + 1; to <= panels; ++to)
              EXPECT_EQ(load_panels(loads, w, from, to, x.in()), panels_xor(w, from, to))
                  << path_name(p) << ' ' << order_name(order) << ' ' << ttype_name(t) << ' ' << cols << ' ' << from << ' ' << to;
        }
    }
  }
  EXPECT_EQ(panel_loads(CpuFeatures{}, kern_table(Path::avx512)), nullptr);
}

TEST(StageLoads, ALoopThatLeavesSomethingOutIsSaid) {
  const auto model = eng_load(pocket());
  Pool pool(2);
  PanelLoads lazy{};
  lazy.by_512 = lazy.by_576 = [](const void*, const void*, size_t) { return uint64_t{0}; };
  lazy.f32 = [](const void*, const float*, size_t, size_t) { return uint64_t{0}; };
  EXPECT_THROW(StageLoads(*model, lazy, pool, 2), Error);
}

}  // namespace
}  // namespace nyb::test
