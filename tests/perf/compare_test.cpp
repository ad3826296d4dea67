// compare_test.cpp - ratios with their intervals against hand-counted distributions; saved sweeps read back and compared.
#include "compare.h"
#include <gtest/gtest.h>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <random>
#include "kern/error.h"

namespace nyb::test {
namespace {

using nlohmann::json;

// Of the 70 orders of four and four samples, one has all the old ones first.
TEST(Interval, FourAndFourJustReach95) {
  const RatioInterval r = ratio_of_sets({100, 101, 102, 103}, {200, 202, 204, 206});
  EXPECT_DOUBLE_EQ(r.confidence, 1 - 2.0 / 70);
  EXPECT_NEAR(r.low, 200.0 / 103, 1e-12);
  EXPECT_NEAR(r.high, 206.0 / 100, 1e-12);
  EXPECT_NEAR(r.ratio, 2, 1e-12);
  EXPECT_TRUE(r.differs());
  EXPECT_EQ(r.verdict(), "faster");
  EXPECT_EQ(ratio_of_sets({200, 202, 204, 206}, {100, 101, 102, 103}).verdict(), "slower");
}

TEST(Interval, ThreeAndThreeCannot) {
  const RatioInterval r = ratio_of_sets({100, 101, 102}, {200, 202, 204});
  EXPECT_NEAR(r.confidence, 0.9, 1e-12);
  EXPECT_FALSE(r.differs());
  EXPECT_EQ(r.verdict(), "too few samples");
  EXPECT_EQ(r.range(), "1.961 to 2.040 (90 %)");
  EXPECT_EQ(ratio_of_sets({100}, {200}).confidence, 0);
}

// Five and five: 1, 1 and 2 of the 252 orders have a rank sum of 0, 1 and 2 above the least, and 3 more would be over 5 %.
TEST(Interval, FiveAndFiveLeaveOutTwo) {
  const RatioInterval r = ratio_of_sets({1, 1, 1, 1, 1}, {10, 11, 12, 13, 14});
  EXPECT_DOUBLE_EQ(r.confidence, 1 - 8.0 / 252);
  EXPECT_NEAR(r.low, 10, 1e-9) << "of 25 ratios, five of each, the third";
  EXPECT_NEAR(r.high, 14, 1e-9);
  EXPECT_NEAR(r.ratio, 12, 1e-9);
  std::vector<double> spread = {16, 8, 4, 2, 1};
  EXPECT_NEAR(ratio_of_sets({1, 1, 1, 1, 1}, spread).ratio, 4, 1e-9);
}

TEST(Interval, EqualSamplesDoNotDiffer) {
  const std::vector<double> s = {97.3, 99.1, 100.7, 101.2, 103};
  const RatioInterval r = ratio_of_sets(s, s);
  EXPECT_EQ(r.ratio, 1);
  EXPECT_LT(r.low, 1);
  EXPECT_GT(r.high, 1);
  EXPECT_EQ(r.verdict(), "no difference seen");
  const std::vector<double> one(5, 100);
  EXPECT_EQ(ratio_of_sets(one, one).verdict(), "no difference seen") << "an interval without width";
  EXPECT_EQ(ratio_of_pairs({1, 1, 1, 1, 1, 1}).verdict(), "no difference seen");
}

// Signed ranks of eight: sums of 0 to 3 in 1, 1, 1 and 2 of the 256 ways; the usual table has 3 as the critical value as well.
TEST(Interval, PairsOfEight) {
  const RatioInterval r = ratio_of_pairs({1.01, 1.02, 1.03, 1.04, 1.05, 1.06, 1.07, 1.08});
  EXPECT_DOUBLE_EQ(r.confidence, 1 - 10.0 / 256);
  // of the 36 means 1.01, (1.01, 1.02), (1.01, 1.03) and 1.02 are the least
  EXPECT_NEAR(r.low, 1.02, 1e-12);
  EXPECT_NEAR(r.high, std::sqrt(1.06 * 1.08), 1e-12) << "after 1.08, (1.07, 1.08) and 1.07";
  EXPECT_EQ(r.verdict(), "faster");
  EXPECT_NEAR(ratio_of_pairs({2, 2, 2, 2, 2}).confidence, 1 - 2.0 / 32, 1e-12);
  EXPECT_EQ(ratio_of_pairs({2, 2, 2, 2, 2}).verdict(), "too few samples");
  EXPECT_EQ(ratio_of_pairs({0.5, 0.5, 0.5, 0.5, 0.5, 0.5}).verdict(), "slower");
}

// Where nothing differs, the exact test of five and five calls 3.2 % of all pairs of sets different; of eight pairs 3.9 %.
TEST(Interval, IsWrongAsOftenAsItSays) {
  std::mt19937 random(1);
  const auto set = [&random](size_t n) {
    std::vector<double> s;
    for (size_t i = 0; i < n; ++i) s.push_back(100 + 1e-6 * static_cast<double>(random()) / 4294.967296);
    return s;
  };
  int sets = 0, pairs = 0;
  constexpr int all = 4000;
  for (int i = 0; i < all; ++i) {
    sets += ratio_of_sets(set(5), set(5)).differs();
    const std::vector<double> a = set(8), b = set(8);
    std::vector<double> ratios;
    for (size_t k = 0; k < a.size(); ++k) ratios.push_back(a[k] / b[k]);
    pairs += ratio_of_pairs(ratios).differs();
  }
  // four standard deviations of the binomial distribution are 44 and 49
  EXPECT_NEAR(sets, all * 8.0 / 252, 44);
  EXPECT_NEAR(pairs, all * 10.0 / 256, 49);
}

// At 50 the distribution is counted, at 51 it is taken as normal.
TEST(Interval, ManySamples) {
  const auto width = [](size_t n) {
    std::vector<double> s, ratios;
    for (size_t i = 0; i < n; ++i) {
      s.push_back(100 + 10.0 * static_cast<double>(i) / static_cast<double>(n));
      ratios.push_back(s.back() / 105);
    }
    const RatioInterval sets = ratio_of_sets(s, s), pairs = ratio_of_pairs(ratios);
    return std::pair(sets.high - sets.low, pairs.high - pairs.low);
  };
  const auto [sets50, pairs50] = width(50);
  const auto [sets51, pairs51] = width(51);
  EXPECT_NEAR(sets50, sets51, 0.05 * sets51);
  EXPECT_NEAR(pairs50, pairs51, 0.05 * pairs51);
}

SweepRow row(Path path, std::vector<double> samples) {
  SweepRow r;
  r.model = "126m";
  r.type = "q8";
  r.load = "mapped file";
  r.path = path;
  r.gen = 64;
  r.chunk = SweepOptions{}.chunk;
  r.bytes_per_token = 1e8;
  r.macs_per_token = 1.1e8;
  r.weight_bytes = 120000000;
  r.params = 126000000;
  r.file_bandwidth = 20;
  r.samples = std::move(samples);
  return r;
}

SavedSweep saved() {
  SavedSweep s;
  s.machine = {"a CPU", "2026-01-01T00:00:00Z", "0.1.0", "perf", 4, 32 << 20, "abc"};
  s.sweep.rows = {row(Path::avx2, {97, 99, 100, 101, 103}), row(Path::avx512, {110, 111, 112, 113, 114})};
  s.sweep.probes = {{1, "mapped file", "ymm x8", 256 << 20, {19, 20, 21}, {"plain C++, 6 streams", 18, 1.1}, true}};
  s.sweep.missing = {"vnni: not on this CPU"};
  return s;
}

// The first row with a reading of each sample; the second as files were before there were any.
SavedSweep saved_with_reads() {
  SavedSweep s = saved();
  s.sweep.rows[0].reads = {10, 11, 20, 10.1, 9};
  return s;
}

std::string json_of(const SavedSweep& s) { return sweep_text(s.sweep, s.machine, ReportFormat::json); }

TEST(SweepRead, ReadsWhatWasWritten) {
  SavedSweep s = saved_with_reads();
  SweepRow prompt = row(Path::ref, {5});
  prompt.prompt = 128;
  prompt.gen = 0;
  prompt.bytes_per_token = prompt.file_bandwidth = 0;
  prompt.kv = KvType::f16;
  prompt.depth = 4096;
  prompt.model = "a \"name\" of two\nlines and \x01, π";
  s.sweep.rows.push_back(prompt);
  const SavedSweep back = sweep_parse(json_of(s), "file");
  EXPECT_EQ(json_of(back), json_of(s));
  EXPECT_EQ(sweep_text(back.sweep, back.machine, ReportFormat::md), sweep_text(s.sweep, s.machine, ReportFormat::md));
  EXPECT_EQ(back.sweep.rows[2].model, prompt.model);
  EXPECT_EQ(back.sweep.rows[0].reads, s.sweep.rows[0].reads);
  EXPECT_DOUBLE_EQ(back.sweep.rows[0].share(), 0.97) << "the median of 0.97, 0.9, 0.5, 1 and 1.14";
  EXPECT_TRUE(back.sweep.rows[1].reads.empty());
}

// A file of an earlier version: all rows against one reading.
TEST(SweepRead, WithoutReadings) {
  json j = json::parse(json_of(saved_with_reads()));
  for (const char* name : {"read_samples", "share_low", "share_high", "share_confidence"}) j["rows"][0].erase(name);
  j["rows"][0]["read_gb_per_second"] = 16;
  const SweepRow r = sweep_parse(j.dump(), "f").sweep.rows[0];
  EXPECT_DOUBLE_EQ(r.share(), 10.0 / 16);
  EXPECT_DOUBLE_EQ(r.ceiling(), 160);
  EXPECT_EQ(json::parse(json_of({{}, {{r}, {}, {}}}))["rows"][0].count("read_samples"), 0u);
}

TEST(SweepRead, NamesWhatIsWrong) {
  struct Case {
    const char* at;
    json value;
    const char* says;
  };
  for (const Case& c :
       std::vector<Case>{{"/rows/1/samples", json::array(), "f: rows 2: samples is empty"},
                         {"/rows/0/samples", {1, -2}, "no speed, a number above 0"},
                         {"/rows/0/samples/1", "x", "no speed, a number above 0"},
                         {"/rows/0/samples/1", 1e308, "no speed"},
                         {"/rows/0/samples/1", 1e-300, "no speed"},
                         {"/rows/0/macs_per_token", 1e308, "macs_per_token is too large"},
                         {"/rows/0/samples", std::vector<int>(1001, 1), "too many"},
                         {"/rows/0/read_samples", {10, 11}, "f: rows 1: read_samples has 2, and samples has 5: each"},
                         {"/rows/0/read_samples/5", 10, "read_samples has 6, and samples has 5"},
                         {"/rows/0/read_samples", json::array(), "read_samples is empty"},
                         {"/rows/0/read_samples", nullptr, "f: rows 1: read_samples is no list"},
                         {"/rows/0/read_samples/2", 0, "f: rows 1: read_samples holds what is no speed"},
                         {"/rows/0/read_samples/2", "x", "read_samples holds what is no speed"},
                         {"/rows/0/read_samples", std::vector<int>(1001, 1), "read_samples has too many"},
                         {"/rows/0/read_gb_per_second", -1, "read_gb_per_second is negative"},
                         {"/rows/1/kernel", "neon", "f: rows 2: kernel is no kernel path known here"},
                         {"/rows/0/threads", -1, "threads is \"-1\" where"},
                         {"/rows/0/threads", 1ull << 32, "threads is too large"},
                         {"/rows/0/n_gen", 0, "n_gen and n_prompt"},
                         {"/rows/0/kv", "q2", "f16"},
                         {"/rows/0/bytes_per_token", -1, "negative"},
                         {"/rows/0/bytes_per_token", 4.9e-324, "too small"},
                         {"/rows/0", 3, "rows 1 is no object"},
                         {"/rows", 3, "rows is no list"},
                         {"/read/0/loop", nullptr, "f: read 1: loop is missing"},
                         {"/machine", 3, "this is not what perf -o json writes"},
                         {"/machine/cpu", 3, "f: machine: cpu is \"3\" where"}}) {
    json j = json::parse(json_of(saved_with_reads()));
    j[json::json_pointer(c.at)] = c.value;
    try {
      sweep_parse(j.dump(), "f");
      ADD_FAILURE() << c.at << " was taken as " << c.value;
    } catch (const Error& e) { EXPECT_NE(std::string(e.what()).find(c.says), std::string::npos) << c.at << ": " << e.what(); }
  }
  for (const char* text : {"", "[]", "{}", "{", "null", "\xff", "{\"rows\":[]}"})
    EXPECT_THROW(sweep_parse(text, "f"), Error) << text;
  EXPECT_THROW(sweep_parse(std::string(100000, '['), "f"), Error);
}

TEST(Compare, EqualSweepsDoNotDiffer) {
  const Comparison c = compare(saved(), saved());
  ASSERT_EQ(c.rows.size(), 2u);
  for (const ComparedRow& r : c.rows) {
    EXPECT_EQ(r.ratio.ratio, 1);
    EXPECT_EQ(r.ratio.verdict(), "no difference seen");
  }
  EXPECT_TRUE(c.warnings.empty() && c.only_old.empty() && c.only_new.empty());
}

TEST(Compare, MatchesBySettingsAndSaysWhatDiffers) {
  SavedSweep now = saved();
  std::swap(now.sweep.rows[0], now.sweep.rows[1]);
  for (double& v : now.sweep.rows[1].samples) v *= 1.25;
  for (double& v : now.sweep.rows[0].samples) v *= 0.8;
  SweepRow other = row(Path::avx2, {50});
  other.depth = 4096;
  now.sweep.rows.push_back(other);
  SavedSweep old = saved();
  old.sweep.rows.push_back(row(Path::ref, {3}));
  const Comparison c = compare(old, now);
  ASSERT_EQ(c.rows.size(), 2u);
  EXPECT_EQ(c.rows[0].now.path, Path::avx2);
  EXPECT_NEAR(c.rows[0].ratio.ratio, 1.25, 1e-12);
  EXPECT_EQ(c.rows[0].ratio.verdict(), "faster");
  EXPECT_NEAR(c.rows[1].ratio.ratio, 0.8, 1e-12);
  EXPECT_EQ(c.rows[1].ratio.verdict(), "slower");
  const std::string md = compare_text(c, ReportFormat::md);
  for (const char* text :
       {"| 126m q8, avx2, 1 thread, tg64 ", " 1.250 |", "| slower ", "only in the old: 126m q8, ref, 1 thread, tg64 (3.00 tok/s)",
        "only in the new: 126m q8, avx2, 1 thread, tg64 @ d4096 (50.00 tok/s)"})
    EXPECT_NE(md.find(text), std::string::npos) << text << " in\n" << md;
  const json j = json::parse(compare_text(c, ReportFormat::json));
  EXPECT_EQ(j["rows"][0]["verdict"], "faster");
  EXPECT_EQ(j["rows"][0]["old"]["samples"].size(), 5u);
  EXPECT_EQ(j["rows"][0]["old"]["noisy"], false);
  EXPECT_EQ(j["only_old"].size(), 1u);
  EXPECT_EQ(j["only_new"][0]["n_depth"], 4096);
  EXPECT_THROW(compare_text(c, ReportFormat::csv), Error);
}

// Every setting tells rows apart, and equal rows belong together in their order.
TEST(Compare, SettingsThatTellRowsApart) {
  const auto matched = [](const std::function<void(SweepRow&)>& change) {
    SavedSweep now = saved();
    change(now.sweep.rows[0]);
    return compare(saved(), now).rows.size();
  };
  EXPECT_EQ(matched([](SweepRow&) {}), 2u);
  for (const auto& change : std::vector<std::function<void(SweepRow&)>>{
           [](SweepRow& r) { r.model = "x"; }, [](SweepRow& r) { r.params = 1; }, [](SweepRow& r) { r.type = "q4"; },
           [](SweepRow& r) { r.load = "2 MiB pages"; }, [](SweepRow& r) { r.path = Path::ref; }, [](SweepRow& r) { r.threads = 7; },
           [](SweepRow& r) { r.kv = KvType::f16; }, [](SweepRow& r) { r.chunk = 1; }, [](SweepRow& r) { r.gen = 65; },
           [](SweepRow& r) { r.depth = 1; }})
    EXPECT_EQ(matched(change), 1u);
  SavedSweep twice = saved();
  twice.sweep.rows = {row(Path::avx2, {1}), row(Path::avx2, {2})};
  const Comparison c = compare(twice, twice);
  ASSERT_EQ(c.rows.size(), 2u);
  EXPECT_EQ(c.rows[1].old.samples, c.rows[1].now.samples);
}

TEST(Compare, WarnsOfOtherMachines) {
  const auto warns = [](const std::function<void(SavedSweep&)>& change, const std::string& says) {
    SavedSweep now = saved();
    change(now);
    const Comparison c = compare(saved(), now);
    const std::string md = compare_text(c, ReportFormat::md);
    EXPECT_EQ(c.warnings.size(), 1u) << md;
    EXPECT_NE(md.find("warning: " + says), std::string::npos) << says << " in\n" << md;
  };
  warns([](SavedSweep& s) { s.machine.cpu = "b CPU"; }, "the CPUs differ: a CPU and b CPU");
  warns([](SavedSweep& s) { s.machine.cpus = 8; }, "the numbers of CPUs differ: 4 and 8");
  warns([](SavedSweep& s) { s.machine.last_cache = 1 << 20; }, "the sizes of the last cache differ: 32 MiB and 1 MiB");
  warns([](SavedSweep& s) { s.machine.commit = "def"; }, "the commits differ: abc and def");
  warns(
      [](SavedSweep& s) {
        s.sweep.probes[0].samples = {15, 18.9, 30};
      },
      "reading with 1 thread (mapped file) gave 20.0 GB/s and gives 18.9");
  warns([](SavedSweep& s) { s.sweep.rows[0].samples.push_back(130); }, "of the new, 1 of 2 rows spread by more than 10 %");
  SavedSweep near = saved();
  near.sweep.probes[0].samples = {19.2};
  EXPECT_TRUE(compare(saved(), near).warnings.empty());
  SavedSweep changed = saved();
  changed.machine.commit = "abc+changed";
  EXPECT_NE(compare_text(compare(changed, changed), ReportFormat::md).find("does not tell all of the source (abc+changed)"),
            std::string::npos);
}

}  // namespace
}  // namespace nyb::test
